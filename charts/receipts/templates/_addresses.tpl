{{/* Where broker and database are, who may use them, and whom to trust. */}}

{{/* Arguments: root, secrets, user, trialKey. The publisher's Secret is the operator's where it has no own. */}}
{{- define "receipts.secretRef" -}}
{{- $secret := index .secrets .user -}}
{{- if and (eq .user "publisher") (not $secret.name) }}{{ $secret = .secrets.operator }}{{ end -}}
{{- if .root.Values.trial.enabled -}}
name: {{ include "receipts.fullname" .root }}-trial
key: {{ .trialKey }}
{{- else -}}
name: {{ $secret.name }}
key: {{ $secret.key }}
{{- end -}}
{{- end }}

{{/* Arguments: root, user. */}}
{{- define "receipts.brokerEnv" -}}
- name: RABBITMQ_URL
  valueFrom:
    secretKeyRef:
      {{- include "receipts.secretRef" (dict "root" .root "secrets" .root.Values.rabbitmq.secrets "user" .user "trialKey" "broker-url") | nindent 6 }}
{{- if include "receipts.hasAuthority" .root.Values.rabbitmq.authority }}
- name: SSL_CERT_FILE
  value: /etc/receipts/broker/ca.crt
{{- end }}
{{- end }}

{{/* Arguments: root, user. */}}
{{- define "receipts.databaseEnv" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      {{- include "receipts.secretRef" (dict "root" .root "secrets" .root.Values.postgresql.secrets "user" .user "trialKey" "database-url") | nindent 6 }}
{{- if include "receipts.hasAuthority" .root.Values.postgresql.authority }}
- name: PGSSLMODE
  value: verify-full
- name: PGSSLROOTCERT
  value: /etc/receipts/database/ca.crt
{{- end }}
{{- end }}

{{- define "receipts.hasAuthority" -}}
{{- if or .pem .name }}true{{ end -}}
{{- end }}

{{/* Arguments: root, broker and database (whether the pod talks to them). */}}
{{- define "receipts.authorityMounts" -}}
{{- if and .broker (include "receipts.hasAuthority" .root.Values.rabbitmq.authority) }}
- name: broker-authority
  mountPath: /etc/receipts/broker
  readOnly: true
{{- end }}
{{- if and .database (include "receipts.hasAuthority" .root.Values.postgresql.authority) }}
- name: database-authority
  mountPath: /etc/receipts/database
  readOnly: true
{{- end }}
{{- end }}

{{- define "receipts.authorityVolumes" -}}
{{- if and .broker (include "receipts.hasAuthority" .root.Values.rabbitmq.authority) }}
- name: broker-authority
  {{- include "receipts.authority" (dict "root" .root "of" "broker" "given" .root.Values.rabbitmq.authority) | nindent 2 }}
{{- end }}
{{- if and .database (include "receipts.hasAuthority" .root.Values.postgresql.authority) }}
- name: database-authority
  {{- include "receipts.authority" (dict "root" .root "of" "database" "given" .root.Values.postgresql.authority) | nindent 2 }}
{{- end }}
{{- end }}

{{- define "receipts.authority" -}}
{{- if .given.pem -}}
configMap:
  name: {{ include "receipts.fullname" .root }}-authorities
  items: [{key: {{ .of }}.crt, path: ca.crt}]
{{- else if eq .given.kind "ConfigMap" -}}
configMap:
  name: {{ .given.name }}
  items: [{key: {{ .given.key }}, path: ca.crt}]
{{- else -}}
secret:
  secretName: {{ .given.name }}
  items: [{key: {{ .given.key }}, path: ca.crt}]
{{- end -}}
{{- end }}
