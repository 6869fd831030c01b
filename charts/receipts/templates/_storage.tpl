{{/* The two volumes. Workers write the cache; nobody writes the receipts. */}}

{{- define "receipts.rootsEnv" -}}
- name: RECEIPT_SOURCE_ROOT
  value: /data/receipts
- name: HOME_BUDGET_OCR_CACHE
  value: /data/ocr-cache
{{- end }}

{{/* Arguments: root, writesCache. */}}
{{- define "receipts.rootsMounts" -}}
- name: receipts
  mountPath: /data/receipts
  readOnly: true
  {{- with .root.Values.storage.receipts.subPath }}
  subPath: {{ . }}
  {{- end }}
- name: ocr-cache
  mountPath: /data/ocr-cache
  {{- if not .writesCache }}
  readOnly: true
  {{- end }}
  {{- with .root.Values.storage.cache.subPath }}
  subPath: {{ . }}
  {{- end }}
{{- end }}

{{- define "receipts.rootsVolumes" -}}
- name: receipts
  persistentVolumeClaim:
    claimName: {{ .Values.storage.receipts.existingClaim | default (printf "%s-receipts" (include "receipts.fullname" .)) }}
- name: ocr-cache
  persistentVolumeClaim:
    claimName: {{ .Values.storage.cache.existingClaim | default (printf "%s-ocr-cache" (include "receipts.fullname" .)) }}
{{- end }}

{{- define "receipts.scratchMount" -}}
- name: scratch
  mountPath: /tmp
{{- end }}

{{/* Argument: its largest size. */}}
{{- define "receipts.scratchVolume" -}}
- name: scratch
  emptyDir:
    sizeLimit: {{ . }}
{{- end }}
