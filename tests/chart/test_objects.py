"""What the release puts into a cluster beside its pods."""

from pathlib import Path

import pytest
import yaml

from dev import folders
from receipt_contract.access import ACCESS
from receipt_contract.topology import SIDES
from tests.chart import rendering
from tests.chart.rendering import CASES, CHART, DEFAULT, EVERYTHING, Object

CRDS = sorted((folders.CHECKOUT / "crds").glob("*.yaml"))
BROKER_RESOURCES = CHART / "ci" / "broker-resources-values.yaml"
CLUSTER_WIDE = {"CustomResourceDefinition", "ClusterRole"}
KEPT = "helm.sh/resource-policy"


def _annotations(one: Object) -> dict[str, str]:
    return one["metadata"].get("annotations") or {}


# Rights


def test_g9_the_role_is_the_one_that_the_tests_give_the_operator(helm: Path) -> None:
    proven = yaml.safe_load((folders.CHECKOUT / "dev/kubernetes/role.yaml").read_text("utf-8"))
    [role] = rendering.of_kind(rendering.objects(helm, DEFAULT), "Role")

    assert role["rules"] == proven["rules"]
    assert role["metadata"]["namespace"] == rendering.NAMESPACE


def test_g9_deleting_finished_objects_adds_one_verb(helm: Path) -> None:
    [plain] = rendering.of_kind(rendering.objects(helm, DEFAULT), "Role")
    [deleting] = rendering.of_kind(
        rendering.objects(helm, DEFAULT, "operator.deleteFinished=true"), "Role"
    )

    assert deleting["rules"][0]["verbs"] == [*plain["rules"][0]["verbs"], "delete"]
    assert deleting["rules"][1:] == plain["rules"][1:]


def test_g9_each_namespace_has_a_role_bound_to_the_operator_and_nothing_is_cluster_wide(
    helm: Path,
) -> None:
    rendered = rendering.objects(
        helm, DEFAULT, "operator.namespaces={team-a,team-b}", "crds.install=false"
    )
    bindings = rendering.of_kind(rendered, "RoleBinding")

    assert {one["metadata"]["namespace"] for one in bindings} == {"team-a", "team-b"}
    for binding in bindings:
        [subject] = binding["subjects"]
        assert subject["namespace"] == rendering.NAMESPACE
        assert subject["name"] == binding["roleRef"]["name"] == "shop-receipts-operator"
    assert [one["kind"] for one in rendered if "namespace" not in one["metadata"]] == []


def test_roles_for_people_are_added_to_the_usual_ones_when_asked_for(helm: Path) -> None:
    roles = rendering.of_kind(rendering.objects(helm, EVERYTHING), "ClusterRole")

    assert {
        label for one in roles for label in one["metadata"]["labels"] if "aggregate" in label
    } == {f"rbac.authorization.k8s.io/aggregate-to-{name}" for name in ("view", "edit", "admin")}


# Kinds


@pytest.mark.parametrize("path", CRDS, ids=lambda path: path.stem)
def test_a_kind_is_installed_as_it_was_generated_and_kept(helm: Path, path: Path) -> None:
    generated = yaml.safe_load(path.read_text("utf-8"))
    [installed] = [
        one
        for one in rendering.of_kind(rendering.objects(helm, DEFAULT), "CustomResourceDefinition")
        if one["metadata"]["name"] == generated["metadata"]["name"]
    ]

    metadata = {key: value for key, value in installed["metadata"].items() if key != "annotations"}
    assert _annotations(installed)[KEPT] == "keep"
    assert {**installed, "metadata": metadata} == generated


def test_kinds_can_be_left_to_another_release_or_go_with_this_one(helm: Path) -> None:
    left = rendering.objects(helm, DEFAULT, "crds.install=false")
    going = rendering.objects(helm, DEFAULT, "crds.keep=false")

    assert rendering.of_kind(left, "CustomResourceDefinition") == []
    assert all(
        _annotations(one) == {} for one in rendering.of_kind(going, "CustomResourceDefinition")
    )


def test_volumes_that_the_chart_makes_outlive_the_release(helm: Path) -> None:
    claims = rendering.of_kind(rendering.objects(helm, EVERYTHING), "PersistentVolumeClaim")

    assert [_annotations(one)[KEPT] for one in claims] == ["keep"]


# Names and hooks


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_every_object_says_what_it_belongs_to_and_has_a_name_of_its_own(
    helm: Path, values: Path
) -> None:
    ours = [
        one
        for one in rendering.objects(helm, values)
        if one["kind"] != "CustomResourceDefinition"
        and not one["metadata"]["name"].endswith("extra")
    ]
    names = [
        (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in ours
    ]

    assert len(set(names)) == len(names)
    for one in ours:
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == rendering.RELEASE
        assert one["metadata"]["name"].startswith("shop-receipts")
        assert len(one["metadata"]["name"]) <= 63


def test_the_schema_and_the_queues_are_there_before_anything_that_needs_them(helm: Path) -> None:
    jobs = {
        rendering.component(one): _annotations(one)
        for one in rendering.of_kind(rendering.objects(helm, DEFAULT), "Job")
    }

    assert set(jobs) == {"migrations", "topology"}
    assert {one["helm.sh/hook"] for one in jobs.values()} == {"pre-install,pre-upgrade"}


def test_a_hook_needs_nothing_that_comes_only_later(helm: Path) -> None:
    pem = "-----BEGIN CERTIFICATE-----\na\n-----END CERTIFICATE-----"
    rendered = rendering.objects(
        helm, DEFAULT, f"rabbitmq.authority.pem={pem}", f"postgresql.authority.pem={pem}"
    )
    [authorities] = rendering.of_kind(rendered, "ConfigMap")
    weights = {
        one["metadata"]["name"]: int(_annotations(one)["helm.sh/hook-weight"])
        for one in rendered
        if _annotations(one).get("helm.sh/hook", "").startswith("pre-install")
    }
    first = min(weights, key=lambda name: weights[name])

    assert first == authorities["metadata"]["name"]
    for job in rendering.of_kind(rendered, "Job"):
        pod = job["spec"]["template"]["spec"]
        assert pod["serviceAccountName"] == "default"
        mounted = {name for volume in pod["volumes"] for name in set(volume) - {"name"}}
        assert mounted == {"emptyDir", "configMap"}


# Scaling, policies, broker


def test_the_scaler_counts_what_waits_and_takes_workers_away_slowly(helm: Path) -> None:
    [scaled] = rendering.of_kind(rendering.objects(helm, EVERYTHING), "ScaledObject")
    [trigger] = scaled["spec"]["triggers"]
    down = scaled["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]

    assert trigger["metadata"]["queueName"] == SIDES[0].work
    assert trigger["metadata"]["excludeUnacknowledged"] == "true"
    assert scaled["spec"]["fallback"]["behavior"] == "currentReplicasIfHigher"
    assert down["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 300}]
    assert "@" not in trigger["metadata"]["host"]


@pytest.mark.parametrize(
    ("values", "settings"),
    [
        pytest.param(EVERYTHING, [], id="from a Secret"),
        pytest.param(EVERYTHING, ["rabbitmq.authority.kind=ConfigMap"], id="from a ConfigMap"),
        pytest.param(BROKER_RESOURCES, [], id="from its text"),
    ],
)
def test_the_scaler_trusts_an_authority_of_ones_own(
    helm: Path, values: Path, settings: list[str]
) -> None:
    rendered = rendering.objects(helm, values, *settings)
    [login] = rendering.of_kind(rendered, "TriggerAuthentication")
    told = [*login["spec"]["secretTargetRef"], *login["spec"]["configMapTargetRef"]]
    [switch] = [one for one in told if one["parameter"] == "tls"]
    maps = {one["metadata"]["name"]: one for one in rendering.of_kind(rendered, "ConfigMap")}

    assert {"ca", "tls"} <= {one["parameter"] for one in told}
    assert maps[switch["name"]]["data"][switch["key"]] == "enable"


def test_g9_a_network_policy_stands_before_every_pod_and_opens_what_it_needs(helm: Path) -> None:
    rendered = rendering.objects(helm, EVERYTHING)
    policies = {
        rendering.component(one): one["spec"]
        for one in rendering.of_kind(rendered, "NetworkPolicy")
    }
    ports = {
        name: {port["port"] for rule in spec["egress"] for port in rule["ports"]}
        for name, spec in policies.items()
    }
    everywhere = {53, 4317}  # names, and the rule that was asked for

    assert set(policies) == {name for name, _ in rendering.pods(rendered)}
    assert all(set(spec["policyTypes"]) == {"Ingress", "Egress"} for spec in policies.values())
    assert ports["worker"] == everywhere | {5671, 5672}
    assert ports["collector"] == everywhere | {5671, 5672, 5432}
    assert ports["operator"] == everywhere | {5671, 5672, 5432, 443, 6443}
    assert ports["migrations"] == everywhere | {5432}
    assert [name for name, spec in policies.items() if spec["ingress"]] == [
        *("collector", "operator", "worker")
    ]


def test_a_drain_takes_one_pod_at_a_time_and_is_never_held_up(helm: Path) -> None:
    budgets = rendering.of_kind(rendering.objects(helm, DEFAULT), "PodDisruptionBudget")

    assert {rendering.component(one) for one in budgets} == {"worker", "collector"}
    assert all(one["spec"]["maxUnavailable"] == 1 for one in budgets)
    assert all(one["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow" for one in budgets)


def test_queues_and_users_as_objects_are_those_of_the_contract(helm: Path) -> None:
    rendered = rendering.objects(helm, BROKER_RESOURCES)
    queues = {one["spec"]["name"]: one["spec"] for one in rendering.of_kind(rendered, "Queue")}
    bindings = {
        (one["spec"]["source"], one["spec"]["destination"], one["spec"]["routingKey"])
        for one in rendering.of_kind(rendered, "Binding")
    }
    wanted = [queue for side in SIDES for queue in side.queues]

    assert set(queues) == {queue.name for queue in wanted}
    for queue in wanted:
        arguments = {**queues[queue.name]["arguments"], "x-queue-type": "quorum"}
        assert arguments == dict(queue.arguments)
    assert bindings == {(queue.exchange, queue.name, queue.routing_key) for queue in wanted}
    assert {one["spec"]["name"] for one in rendering.of_kind(rendered, "Exchange")} == {
        exchange for side in SIDES for exchange in side.exchanges
    }
    permissions = {
        one["spec"]["userReference"]["name"].rpartition("-")[2]: one["spec"]["permissions"]
        for one in rendering.of_kind(rendered, "Permission")
    }
    assert permissions == {
        user: ACCESS[user].patterns for user in ACCESS if user.value in permissions
    }
    assert set(permissions) == {"operator", "worker", "collector", "scaler"}


def test_a_trial_keeps_nothing_and_says_so(helm: Path) -> None:
    trial = CHART / "ci" / "trial-values.yaml"
    sets = rendering.of_kind(rendering.objects(helm, trial), "StatefulSet")

    assert len(sets) == 2
    for one in sets:
        policy = one["spec"]["persistentVolumeClaimRetentionPolicy"]
        assert policy["whenDeleted"] == "Delete"
    notes = (CHART / "templates" / "NOTES.txt").read_text("utf-8")
    assert "Nothing here is meant to be kept" in notes
