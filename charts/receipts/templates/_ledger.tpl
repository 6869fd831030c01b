{{/*
A pod that runs one command of `ledger` and ends. Arguments: root, component, args (a list), and as
far as the command needs them: broker and database (users), roots (true).
*/}}
{{- define "receipts.ledgerPod" -}}
{{- $part := .root.Values.cli -}}
metadata:
  {{- include "receipts.podMetadata" (dict "root" .root "component" .component "part" $part) | nindent 2 }}
spec:
  {{- include "receipts.podSpec" (dict "root" .root "component" .component "part" $part) | nindent 2 }}
  restartPolicy: Never
  {{- include "receipts.ledgerContainers" . | nindent 2 }}
{{- end }}

{{- define "receipts.ledgerContainers" -}}
{{- $part := .root.Values.cli -}}
{{- $places := dict "root" .root "broker" .broker "database" .database -}}
containers:
  - name: {{ .component }}
    image: {{ include "receipts.image" (dict "root" .root "image" $part.image) | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: {{ .args | toJson }}
    env:
      {{- with .broker }}
      {{- include "receipts.brokerEnv" (dict "root" $.root "user" .) | nindent 6 }}
      {{- end }}
      {{- with .database }}
      {{- include "receipts.databaseEnv" (dict "root" $.root "user" .) | nindent 6 }}
      {{- end }}
      {{- if .roots }}
      {{- include "receipts.rootsEnv" .root | nindent 6 }}
      {{- end }}
      {{- with .env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- with $part.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- include "receipts.resources" $part.resources | nindent 4 }}
    securityContext:
      {{- include "receipts.containerSecurity" .root | nindent 6 }}
    volumeMounts:
      {{- include "receipts.scratchMount" .root | nindent 6 }}
      {{- if .roots }}
      {{- include "receipts.rootsMounts" (dict "root" .root "writesCache" .writesCache) | nindent 6 }}
      {{- end }}
      {{- with include "receipts.authorityMounts" $places | trim }}{{ nindent 6 . }}{{ end }}
volumes:
  {{- include "receipts.scratchVolume" "64Mi" | nindent 2 }}
  {{- if .roots }}
  {{- include "receipts.rootsVolumes" .root | nindent 2 }}
  {{- end }}
  {{- with include "receipts.authorityVolumes" $places | trim }}{{ nindent 2 . }}{{ end }}
{{- end }}

{{/* A CronJob's spec up to its pod. Arguments: those of ledgerPod, and schedule, suspend, deadline. */}}
{{- define "receipts.ledgerSchedule" -}}
schedule: {{ .schedule | quote }}
suspend: {{ .suspend }}
concurrencyPolicy: Forbid
startingDeadlineSeconds: 300
successfulJobsHistoryLimit: 1
failedJobsHistoryLimit: 3
jobTemplate:
  metadata:
    labels:
      {{- include "receipts.labels" (dict "root" .root "component" .component) | nindent 6 }}
  spec:
    # The next one comes soon; a second try of this one would only hide what was wrong.
    backoffLimit: 0
    activeDeadlineSeconds: {{ .deadline }}
    template:
      {{- include "receipts.ledgerPod" . | nindent 6 }}
{{- end }}
