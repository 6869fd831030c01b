{{/* What no schema can say: values that contradict each other or lack each other. One sentence each. */}}

{{- define "receipts.validate" -}}
{{- include "receipts.validatePlace" . -}}
{{- include "receipts.validateSecrets" . -}}
{{- include "receipts.validateScaling" . -}}
{{- include "receipts.validateTrial" . -}}
{{- end }}

{{- define "receipts.validatePlace" -}}
{{- if not .Values.cluster -}}
{{- fail "cluster is not set: name this cluster; the name is part of every request's identity and must stay the same." -}}
{{- end -}}
{{- range $name, $volume := .Values.storage -}}
{{- if and (not $volume.existingClaim) (not $volume.create.enabled) -}}
{{- fail (printf "storage.%s has no volume: set storage.%s.existingClaim, or storage.%s.create.enabled to make one." $name $name $name) -}}
{{- end -}}
{{- if and $volume.existingClaim $volume.create.enabled -}}
{{- fail (printf "storage.%s has two volumes: set either existingClaim or create.enabled." $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $authority := dict "rabbitmq" .Values.rabbitmq.authority "postgresql" .Values.postgresql.authority -}}
{{- if and $authority.pem $authority.name -}}
{{- fail (printf "%s.authority is given twice: set either pem or name." $name) -}}
{{- end -}}
{{- end -}}
{{- $patience := add .Values.worker.ocrDeadlineSeconds 1080 -}}
{{- if lt (int64 .Values.rabbitmq.consumerTimeoutSeconds) (int64 $patience) -}}
{{- fail (printf "worker.ocrDeadlineSeconds is too long for the broker: rabbitmq.consumerTimeoutSeconds would have to be %d or more (deadline, 15 minutes until the start and 3 to spare), on the broker too." $patience) -}}
{{- end -}}
{{- end }}

{{- define "receipts.validateSecrets" -}}
{{- if not .Values.trial.enabled -}}
{{- range $user := list "operator" "worker" "collector" -}}
{{- if not (index $.Values.rabbitmq.secrets $user).name -}}
{{- fail (printf "rabbitmq.secrets.%s.name is not set: name the Secret with the broker address of that user." $user) -}}
{{- end -}}
{{- end -}}
{{- range $user := list "operator" "collector" -}}
{{- if not (index $.Values.postgresql.secrets $user).name -}}
{{- fail (printf "postgresql.secrets.%s.name is not set: name the Secret with the database address of that user." $user) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.migrations.enabled (not .Values.postgresql.secrets.migrations.name) -}}
{{- fail "postgresql.secrets.migrations.name is not set: name the Secret of the schemas' owner, or set migrations.enabled to false and run `ledger database setup` yourself." -}}
{{- end -}}
{{- if and .Values.prune.enabled (not .Values.postgresql.secrets.migrations.name) -}}
{{- fail "postgresql.secrets.migrations.name is not set: name the Secret of the schemas' owner, or set prune.enabled to false and run `ledger prune` yourself." -}}
{{- end -}}
{{- if and .Values.topologyDeclaration.enabled (not .Values.rabbitmq.secrets.topology.name) -}}
{{- fail "rabbitmq.secrets.topology.name is not set: name the Secret of a broker user who may configure, or set topologyDeclaration.enabled to false and make the queues yourself." -}}
{{- end -}}
{{- end -}}
{{- if .Values.rabbitmqResources.enabled -}}
{{- if or (not .Values.rabbitmqResources.cluster.name) (not .Values.rabbitmqResources.cluster.namespace) -}}
{{- fail "rabbitmqResources.cluster is not complete: set name and namespace of the RabbitmqCluster." -}}
{{- end -}}
{{- if .Values.topologyDeclaration.enabled -}}
{{- fail "The queues have two makers: set topologyDeclaration.enabled to false when rabbitmqResources is enabled." -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "receipts.validateScaling" -}}
{{- with .Values.keda -}}
{{- if .enabled -}}
{{- if gt (int .minReplicas) (int .maxReplicas) -}}
{{- fail "keda.minReplicas is more than keda.maxReplicas." -}}
{{- end -}}
{{- if not .secret -}}
{{- fail "keda.secret is not set: name the Secret with which the scaler asks the broker." -}}
{{- end -}}
{{- if and (eq .protocol "http") (not .managementUrl) -}}
{{- fail "keda.managementUrl is not set: give the address of the broker's management API, or set keda.protocol to amqp." -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "receipts.validateTrial" -}}
{{- if .Values.trial.enabled -}}
{{- if not .Values.trial.password -}}
{{- fail "trial.password is not set: choose 16 to 64 letters and digits, for example with `openssl rand -hex 16`." -}}
{{- end -}}
{{- range $service, $given := dict "rabbitmq" .Values.rabbitmq "postgresql" .Values.postgresql -}}
{{- range $user, $secret := $given.secrets -}}
{{- if $secret.name -}}
{{- fail (printf "trial.enabled brings a broker and a database that lose everything with the release: take %s.secrets.%s away, or trial.enabled." $service $user) -}}
{{- end -}}
{{- end -}}
{{- if or $given.authority.pem $given.authority.name -}}
{{- fail (printf "trial.enabled knows no TLS: take %s.authority away, or trial.enabled." $service) -}}
{{- end -}}
{{- end -}}
{{- if or .Values.keda.enabled .Values.rabbitmqResources.enabled -}}
{{- fail "trial.enabled is for a first try: keda and rabbitmqResources belong to a broker of your own." -}}
{{- end -}}
{{- end -}}
{{- end }}
