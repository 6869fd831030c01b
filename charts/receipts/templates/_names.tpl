{{/* Names, labels and images. Selectors use name, instance and component only, and never change. */}}

{{- define "receipts.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "receipts.fullname" -}}
{{- $name := include "receipts.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* Arguments: root, component. */}}
{{- define "receipts.selector" -}}
app.kubernetes.io/name: {{ include "receipts.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "receipts.labels" -}}
{{ include "receipts.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: receipts
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Start of an object's metadata. Arguments: root, component, and suffix unless it is the component. */}}
{{- define "receipts.metadata" -}}
name: {{ include "receipts.fullname" .root }}-{{ .suffix | default .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "receipts.labels" . | nindent 2 }}
{{- end }}

{{/* Arguments: root, image (name and digest). A digest wins over the tag. */}}
{{- define "receipts.image" -}}
{{- $name := .image.name -}}
{{- with .root.Values.image.registry }}{{ $name = printf "%s/%s" (. | trimSuffix "/") $name }}{{ end -}}
{{- if .image.digest -}}
{{ printf "%s@%s" $name .image.digest }}
{{- else -}}
{{ printf "%s:%s" $name (.root.Values.image.tag | default .root.Chart.AppVersion) }}
{{- end -}}
{{- end }}

{{/* Namespaces with requests, as a JSON list. */}}
{{- define "receipts.namespaces" -}}
{{ .Values.operator.namespaces | default (list .Release.Namespace) | uniq | toJson }}
{{- end }}

{{/* Annotations of a hook that comes before everything else. Argument: weight. */}}
{{- define "receipts.earlyHook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
