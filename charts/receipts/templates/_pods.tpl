{{/* What every pod of the release has in common: the restricted profile, and a root that is read-only. */}}

{{/* Start of a pod's spec. Arguments: root, part (its values), component, and account where it has one. */}}
{{- define "receipts.podSpec" -}}
serviceAccountName: {{ .account | default "default" }}
automountServiceAccountToken: {{ eq .component "operator" }}
enableServiceLinks: false
securityContext:
  {{- include "receipts.podSecurity" .root.Values.podSecurity | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .part.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .part.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "receipts.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ int64 .runAsUser }}
runAsGroup: {{ int64 .runAsGroup }}
{{- if ne (toString .fsGroup) "<nil>" }}
fsGroup: {{ int64 .fsGroup }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "receipts.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Metadata of a pod. Arguments: root, component, part. */}}
{{- define "receipts.podMetadata" -}}
labels:
  {{- include "receipts.selector" . | nindent 2 }}
  {{- with .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .part.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  kubectl.kubernetes.io/default-container: {{ .component }}
  {{- $authorities := list .root.Values.rabbitmq.authority.pem .root.Values.postgresql.authority.pem }}
  {{- if compact $authorities }}
  checksum/authorities: {{ $authorities | toJson | sha256sum }}
  {{- end }}
  {{- with .part.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Spreading over nodes and zones, where there are some. Arguments: root, component. */}}
{{- define "receipts.spread" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "receipts.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{/* Health of a long-lived process, and the port for it. */}}
{{- define "receipts.probes" -}}
ports:
  - name: http
    containerPort: 8080
livenessProbe:
  httpGet: {path: /livez, port: http}
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
startupProbe:
  httpGet: {path: /livez, port: http}
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 60
{{- end }}

{{- define "receipts.resources" -}}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}

{{/* Settings of every long-lived process. */}}
{{- define "receipts.commonEnv" -}}
- name: LOG_LEVEL
  value: {{ .Values.logLevel }}
- name: HEALTH_PORT
  value: "8080"
- name: RECEIPTS_TOPOLOGY
  value: {{ .Values.trial.enabled | ternary "declare" .Values.rabbitmq.topology }}
{{- end }}
