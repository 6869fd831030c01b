"""Runs and what belongs to them: passes, artifacts, and the events they came in."""

from typing import Any

from receipt_collector.store.database import Connection
from receipt_contract import wire
from receipt_contract.results import AnyRunEvent, Artifact, PassEvent, ResultEvent


def add(
    connection: Connection, event: AnyRunEvent, *, evidence_id: int, merchant: str | None
) -> None:
    """Store the run; a run that is stored stays as it is."""
    receipt, run = event.payload.receipt, event.payload.run
    connection.execute(
        """
        INSERT INTO budget.receipt_ocr_runs (
          run_uuid, evidence_id, source_sha256, source_reference, cache_version, processed_at,
          processing_seconds, worker_host, worker_pid, worker_identity, traceparent,
          result_schema_version, merchant, extraction_status, extraction_confidence, timings
        ) VALUES (
          %(run_uuid)s, %(evidence_id)s, %(source_sha256)s, %(source_reference)s,
          %(cache_version)s, %(processed_at)s, %(processing_seconds)s, %(worker_host)s,
          %(worker_pid)s, %(worker_identity)s::jsonb, %(traceparent)s, %(result_schema_version)s,
          %(merchant)s, %(extraction_status)s, %(extraction_confidence)s, %(timings)s::jsonb
        )
        ON CONFLICT (run_uuid) DO NOTHING
        """,
        {
            "run_uuid": event.run_uuid,
            "evidence_id": evidence_id,
            "source_sha256": event.source_sha256,
            "source_reference": event.source_reference,
            "cache_version": run.cache_version,
            "processed_at": run.processed_at,
            "processing_seconds": run.processing_seconds,
            "worker_host": event.worker.host,
            "worker_pid": event.worker.pid,
            "worker_identity": _json(event.worker.model_dump()),
            "traceparent": event.trace_context.traceparent,
            "result_schema_version": event.schema_version,
            "merchant": merchant,
            "extraction_status": receipt.extraction_status,
            "extraction_confidence": receipt.extraction_confidence,
            "timings": _json(run.timings),
        },
    )


def add_pass(connection: Connection, event: PassEvent) -> bool:
    """Store a pass and its event; what is stored stays as it is. False when its run is not stored.

    One statement, because most events are passes.
    """
    ocr_pass = event.payload.ocr_pass
    row = connection.execute(
        """
        WITH run AS (
          SELECT run_uuid FROM budget.receipt_ocr_runs WHERE run_uuid = %(run_uuid)s
        ), pass AS (
          INSERT INTO budget.receipt_ocr_passes (
            run_uuid, pass_id, engine, engine_type, variant, status, psm, error_type, page_number,
            dpi, line_count, character_count, structural_score, summary_score,
            consensus_line_coverage, consensus_coverage_ratio, seconds, valid_timestamp,
            selected_base, quality, engine_options, usage, provenance
          )
          SELECT
            run_uuid, %(pass_id)s, %(engine)s, %(engine_type)s, %(variant)s, %(status)s, %(psm)s,
            %(error_type)s, %(page_number)s, %(dpi)s, %(line_count)s, %(character_count)s,
            %(structural_score)s, %(summary_score)s, %(consensus_line_coverage)s,
            %(consensus_coverage_ratio)s, %(seconds)s, %(valid_timestamp)s, %(selected_base)s,
            %(quality)s::jsonb, %(engine_options)s::jsonb, %(usage)s::jsonb, %(provenance)s::jsonb
          FROM run
          ON CONFLICT (run_uuid, pass_id) DO NOTHING
        ), event AS (
          INSERT INTO budget.ocr_result_events (
            message_id, schema_version, event_type, run_uuid, pass_id, source_sha256,
            source_reference, worker_identity, trace_context, occurred_at
          )
          SELECT
            %(message_id)s, %(schema_version)s, %(event_type)s, run_uuid, %(pass_id)s,
            %(source_sha256)s, %(source_reference)s, %(worker_identity)s::jsonb,
            %(trace_context)s::jsonb, %(occurred_at)s
          FROM run
          ON CONFLICT (message_id) DO NOTHING
        )
        SELECT 1 FROM run
        """,
        {
            **dict(ocr_pass),
            "quality": _json(ocr_pass.quality),
            "engine_options": _json(ocr_pass.engine_options),
            "usage": _json(ocr_pass.usage),
            "provenance": _json(ocr_pass.provenance),
            **_envelope(event),
        },
    ).fetchone()
    return row is not None


def add_artifact(connection: Connection, run_uuid: str, artifact: Artifact) -> None:
    """Store where an artifact of a run lies; what is said of it last, holds."""
    connection.execute(
        """
        INSERT INTO budget.receipt_ocr_artifacts
          (run_uuid, kind, uri, sha256, media_type, size_bytes)
        VALUES
          (%(run_uuid)s, %(kind)s, %(uri)s, %(sha256)s, %(media_type)s, %(size_bytes)s)
        ON CONFLICT (run_uuid, uri) DO UPDATE SET
          kind = EXCLUDED.kind,
          sha256 = EXCLUDED.sha256,
          media_type = EXCLUDED.media_type,
          size_bytes = EXCLUDED.size_bytes
        """,
        {"run_uuid": run_uuid, **dict(artifact)},
    )


def add_event(connection: Connection, event: AnyRunEvent) -> None:
    """Store which event brought the run, and from which worker."""
    connection.execute(
        """
        INSERT INTO budget.ocr_result_events (
          message_id, schema_version, event_type, run_uuid, pass_id, source_sha256,
          source_reference, worker_identity, trace_context, occurred_at
        ) VALUES (
          %(message_id)s, %(schema_version)s, %(event_type)s, %(run_uuid)s, %(pass_id)s,
          %(source_sha256)s, %(source_reference)s, %(worker_identity)s::jsonb,
          %(trace_context)s::jsonb, %(occurred_at)s
        )
        ON CONFLICT (message_id) DO NOTHING
        """,
        _envelope(event),
    )


def _envelope(event: ResultEvent) -> dict[str, Any]:
    return {
        "message_id": event.message_id,
        "schema_version": event.schema_version,
        "event_type": event.event_type,
        "run_uuid": event.run_uuid,
        "pass_id": event.pass_id,
        "source_sha256": event.source_sha256,
        "source_reference": event.source_reference,
        "worker_identity": _json(event.worker.model_dump()),
        "trace_context": _json(event.trace_context.document()),
        "occurred_at": event.occurred_at,
    }


def _json(document: Any) -> str:
    return wire.dumps(document).decode("ascii")
