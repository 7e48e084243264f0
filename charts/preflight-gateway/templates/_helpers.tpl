{{/* Names and labels that every object shares. A CronJob's name has at most 52 characters, with the suffix of its own. */}}
{{- define "preflight.name" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $chart .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $chart | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "preflight.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "preflight.labels" -}}
{{ include "preflight.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: gateway
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "preflight.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "preflight.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "preflight.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* Name of the Secret that holds the first admin key; empty when the gateway makes its own. */}}
{{- define "preflight.bootstrapSecret" -}}
{{- if .Values.bootstrapKey.existingSecret -}}
{{- .Values.bootstrapKey.existingSecret -}}
{{- else if .Values.bootstrapKey.value -}}
{{- printf "%s-bootstrap" (include "preflight.name" .) -}}
{{- end -}}
{{- end -}}

{{/* Where pods of the release may run. Takes root, and whether the rules of the gateway's own pod about other pods hold. */}}
{{- define "preflight.placement" -}}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with ternary .root.Values.affinity (pick .root.Values.affinity "nodeAffinity") .whole }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The admin listener has TLS: probes and scrapes use it. */}}
{{- define "preflight.adminScheme" -}}
{{- if dig "tls" "listeners" "admin" "" .Values.config -}}HTTPS{{- else -}}HTTP{{- end -}}
{{- end -}}

{{- define "preflight.scrapeTls" -}}
{{- if eq (include "preflight.adminScheme" .) "HTTPS" -}}
scheme: https
{{- with .Values.monitoring.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The gateway's pod is there for its own mode, and for the verifier and the hub, which need its keys and its ledger. */}}
{{- define "preflight.hasGateway" -}}
{{- if or .Values.modes.gateway .Values.modes.admission .Values.modes.hub -}}yes{{- end -}}
{{- end -}}

{{/* The gateway's pod has the certificate of the webhooks' listener and the hub's. */}}
{{- define "preflight.hasCertificate" -}}
{{- if or .Values.modes.admission .Values.modes.hub -}}yes{{- end -}}
{{- end -}}

{{/* Pods of the injector: they share no state, so they are a Deployment of their own. */}}
{{- define "preflight.injectorSelector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}-injector
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "preflight.injectorLabels" -}}
{{ include "preflight.injectorSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: injector
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "preflight.webhookSecret" -}}
{{- .Values.webhooks.certificate.existingSecret | default (printf "%s-webhooks" (include "preflight.name" .)) -}}
{{- end -}}

{{/* Namespaces with these labels, without Kubernetes' own and ours: an outage cannot lock out the cluster or the gateway. */}}
{{- define "preflight.namespaceSelector" -}}
matchLabels:
  {{- toYaml .labels | nindent 2 }}
matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values: [kube-system, kube-public, kube-node-lease, {{ .root.Release.Namespace }}]
{{- end -}}

{{/* Ports of the listeners that are on, by the names of their values. */}}
{{- define "preflight.ports" -}}
{{- range $name, $port := .Values.ports }}
{{- if $port }}
ports.{{ $name }}: {{ $port }}
{{- end }}
{{- end }}
{{- if or .Values.modes.injector .Values.modes.admission }}
webhooks.port: {{ .Values.webhooks.port }}
{{- end }}
{{- if .Values.modes.hub }}
hub.port: {{ .Values.hub.port }}
{{- end }}
{{- end -}}

{{/* Combinations that cannot work. */}}
{{- define "preflight.validate" -}}
{{- if not (or .Values.modes.gateway .Values.modes.injector .Values.modes.admission .Values.modes.hub) -}}
{{- fail "no mode is on: set modes.gateway, modes.hub, modes.injector or modes.admission" -}}
{{- end -}}
{{- $several := or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}
{{- if and $several (not .Values.store.existingSecret) -}}
{{- fail "several gateways need one store: set store.existingSecret to a Secret with a postgres:// URL" -}}
{{- end -}}
{{- if and $several .Values.persistence.enabled -}}
{{- fail "several gateways cannot share a volume: set persistence.enabled=false, the ledger is in the store" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail "autoscaling.minReplicas is more than autoscaling.maxReplicas" -}}
{{- end -}}
{{- $ports := dict -}}
{{- range $name, $port := include "preflight.ports" . | fromYaml -}}
{{- $used := toString (int $port) -}}
{{- if hasKey $ports $used -}}
{{- fail (printf "%s and %s are both %s: set different ports" (get $ports $used) $name $used) -}}
{{- end -}}
{{- $_ := set $ports $used $name -}}
{{- end -}}
{{- if and .Values.monitoring.podMonitor .Values.monitoring.serviceMonitor -}}
{{- fail "podMonitor and serviceMonitor scrape the same pods: set one of them" -}}
{{- end -}}
{{- if .Values.modes.admission -}}
{{- $found := false -}}
{{- range .Values.config.routes -}}
{{- if and (eq .name $.Values.admission.route) (eq .protocol "kubernetes") -}}{{- $found = true -}}{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- fail (printf "modes.admission needs a route with protocol: kubernetes and name: %s in config.routes" .Values.admission.route) -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.webhooks.certificate.source "secret") (or (not .Values.webhooks.certificate.existingSecret) (not .Values.webhooks.certificate.caBundle)) -}}
{{- fail "webhooks.certificate.source secret needs existingSecret and caBundle" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.enabled needs httpRoute.parentRefs" -}}
{{- end -}}
{{- end -}}

{{/* preflight.yaml of the gateway: the listener for the verifier needs its certificate. */}}
{{- define "preflight.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $files := dict "certificate" "/etc/preflight/webhooks/tls.crt" "key" "/etc/preflight/webhooks/tls.key" -}}
{{- if .Values.modes.admission -}}
{{- $config = mergeOverwrite $config (dict "tls" (dict "listeners" (dict "webhooks" $files))) -}}
{{- end -}}
{{- if .Values.modes.hub -}}
{{- $api := "/var/run/secrets/preflight-api" -}}
{{- $tokens := dict "issuer" .Values.hub.issuer "audience" .Values.hub.audience "keys" "https://kubernetes.default.svc/openid/v1/jwks" "ca_file" (printf "%s/ca.crt" $api) "token_file" (printf "%s/token" $api) -}}
{{- $own := dict "tls" (dict "listeners" (dict "hub" $files)) "hub" (dict "tokens" $tokens) -}}
{{- $config = mergeOverwrite $own $config -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* The certificate is made by a Job of the release. */}}
{{- define "preflight.makesCertificate" -}}
{{- if and (or .Values.modes.injector (include "preflight.hasCertificate" .)) (eq .Values.webhooks.certificate.source "job") -}}yes{{- end -}}
{{- end -}}

{{/* Names that the certificate is for. */}}
{{- define "preflight.certificateHosts" -}}
{{- range list "webhooks" "injector" "hub" }}
- {{ include "preflight.name" $ }}-{{ . }}.{{ $.Release.Namespace }}.svc
{{- end }}
{{- end -}}

{{/* Pod that runs `preflight webhooks …` with a token of a service account. Takes root, name, account, args. */}}
{{- define "preflight.webhooksPod" -}}
metadata:
  labels:
    app.kubernetes.io/name: {{ .name }}
spec:
  serviceAccountName: {{ .account }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  restartPolicy: Never
  {{- include "preflight.placement" (dict "root" .root "whole" false) | nindent 2 }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: webhooks
      image: {{ include "preflight.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args:
        {{- toYaml .args | nindent 8 }}
      resources:
        requests: { cpu: 10m, memory: 64Mi }
        limits: { memory: 256Mi }
      {{- with .root.Values.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - { name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true }
  volumes:
    # A token of this pod, for some minutes.
    - name: token
      projected:
        defaultMode: 0444
        sources:
          - serviceAccountToken: { path: token, expirationSeconds: 600 }
          - configMap:
              name: kube-root-ca.crt
              items: [{ key: ca.crt, path: ca.crt }]
{{- end -}}

{{/* Arguments that make the certificate; with `trust`, they also write its authority into the webhooks. */}}
{{- define "preflight.certifyArgs" -}}
- webhooks
- certify
- --secret={{ .root.Release.Namespace }}/{{ include "preflight.webhookSecret" .root }}
- --days={{ .root.Values.webhooks.certificate.days }}
{{- range include "preflight.certificateHosts" .root | fromYamlArray }}
- --host={{ . }}
{{- end }}
{{- if .trust }}
{{- if .root.Values.modes.injector }}
- mutating/{{ include "preflight.name" .root }}-injector
{{- end }}
{{- if .root.Values.modes.admission }}
- validating/{{ include "preflight.name" .root }}-admission
{{- end }}
{{- end }}
{{- end -}}

{{/* The one Secret, which may not be there yet: `create` cannot name it. */}}
{{- define "preflight.certificateRules" -}}
- apiGroups: ['']
  resources: [secrets]
  resourceNames: [{{ include "preflight.webhookSecret" . }}]
  verbs: [get, update]
- apiGroups: ['']
  resources: [secrets]
  verbs: [create]
{{- end -}}

{{- define "preflight.caBundle" -}}
{{- if eq .Values.webhooks.certificate.source "secret" }}
caBundle: {{ .Values.webhooks.certificate.caBundle | b64enc }}
{{- end }}
{{- end -}}

{{- define "preflight.webhookAnnotations" -}}
{{- if eq .Values.webhooks.certificate.source "certManager" }}
annotations:
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "preflight.webhookSecret" . }}
{{- end }}
{{- end -}}
