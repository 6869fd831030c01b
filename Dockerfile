# One image for each program: docker build --target operator|worker|collector|cli .
# And cli-ocr, in which `ledger` reads receipts itself; the Jobs of the chart need none of that.
#
# BASE_IMAGE    any Debian with python3 (3.11 or later) and its venv module; name it with a digest
#               for builds that can be repeated.
# OCR_LANGUAGES models of Tesseract, separated by spaces, for what reads receipts.
# WITH_RAPIDOCR 1 adds the second engine to the worker, 0 leaves it out and saves 300 MB.

ARG BASE_IMAGE=python:3.12-slim-bookworm

# --- What all four start from -------------------------------------------------------------------
FROM ${BASE_IMAGE} AS runtime
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="receipt-operator" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Everything that is written goes to /tmp: the root may be read-only. Numbers instead of names let a
# cluster see that no image runs as root.
ENV PATH=/opt/receipts/bin:$PATH \
    HOME=/tmp \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /tmp

# --- Builders: pip stays behind -----------------------------------------------------------------
FROM ${BASE_IMAGE} AS build
WORKDIR /src
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/receipts
ENV INSTALL="/opt/pip/bin/python -m pip --python /opt/receipts/bin/python --disable-pip-version-check --no-cache-dir install --no-compile"
COPY pyproject.toml README.md LICENSE ./
# Libraries are installed for packages that are still empty: a change of ours leaves their layer alone.
RUN for package in contract/receipt_contract contract/receipt_runtime operator/receipt_operator \
        worker/receipt_worker collector/receipt_collector cli/receipt_cli; do \
      mkdir -p "$package" && touch "$package/__init__.py"; \
    done
ENV OURS="$INSTALL --no-deps --force-reinstall ." \
    TRIM="/opt/receipts/bin/python dev/image/trim.py"

FROM build AS build-operator
RUN $INSTALL '.[operator]'
COPY . .
RUN $OURS && $TRIM receipt_operator

FROM build AS build-collector
RUN $INSTALL '.[collector]'
COPY . .
RUN $OURS && $TRIM receipt_collector

FROM build AS build-cli
RUN $INSTALL '.[ledger]'
COPY . .
RUN $OURS && $TRIM receipt_cli

FROM build AS build-cli-ocr
RUN $INSTALL '.[cli]'
COPY . .
RUN $OURS && $TRIM receipt_cli

FROM build AS build-worker
ARG WITH_RAPIDOCR=1
RUN case "$WITH_RAPIDOCR" in \
      1) $INSTALL '.[worker,rapidocr]' ;; \
      0) $INSTALL '.[worker]' ;; \
      *) echo "WITH_RAPIDOCR is 0 or 1" >&2; exit 1 ;; \
    esac
COPY . .
RUN $OURS && $TRIM receipt_worker

# --- Tesseract, for those that read receipts ----------------------------------------------------
FROM runtime AS reading
ARG OCR_LANGUAGES="eng"
USER 0:0
# Which way is up is found without Tesseract's model for that (osd).
RUN apt-get update \
    && apt-get install -y --no-install-recommends tesseract-ocr \
       $(for model in $OCR_LANGUAGES; do echo "tesseract-ocr-$model"; done | tr _ -) \
    && find /usr/share/doc -type f ! -name copyright -delete \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
       /usr/share/tesseract-ocr/*/tessdata/osd.traineddata
USER 10001:10001
# Tesseract's own threads only get in each other's way: a pod reads one receipt at a time.
ENV OMP_THREAD_LIMIT=1

# --- The images ---------------------------------------------------------------------------------
FROM runtime AS operator
LABEL org.opencontainers.image.title="receipt-operator" \
      org.opencontainers.image.description="Turns ReceiptReprocess and CacheRebuild objects into work and shows what became of it."
COPY --from=build-operator /opt/receipts /opt/receipts
ENTRYPOINT ["receipt-operator"]

FROM reading AS worker
LABEL org.opencontainers.image.title="receipt-worker" \
      org.opencontainers.image.description="Reads receipts with OCR, one at a time."
COPY --from=build-worker /opt/receipts /opt/receipts
ENTRYPOINT ["receipt-worker"]

FROM runtime AS collector
LABEL org.opencontainers.image.title="receipt-collector" \
      org.opencontainers.image.description="Saves what workers read, and every failure."
COPY --from=build-collector /opt/receipts /opt/receipts
ENTRYPOINT ["receipt-collector"]

FROM runtime AS cli
LABEL org.opencontainers.image.title="receipt-cli" \
      org.opencontainers.image.description="ledger: messages, database and broker from a command line."
COPY --from=build-cli /opt/receipts /opt/receipts
ENTRYPOINT ["ledger"]

FROM reading AS cli-ocr
LABEL org.opencontainers.image.title="receipt-cli-ocr" \
      org.opencontainers.image.description="ledger, which reads receipts too."
COPY --from=build-cli-ocr /opt/receipts /opt/receipts
ENTRYPOINT ["ledger"]
