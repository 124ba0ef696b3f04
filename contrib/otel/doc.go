// Package otel instruments a [socialdata.Client] and its server with OpenTelemetry: with metrics, and with traces from
// the caller's traceparent to the requests to upstreams.
//
//	provider, page, err := otel.Prometheus()
//	telemetry, err := otel.New(otel.Config{Tracer: tracerProvider, Meter: provider})
//	web := &http.Client{Transport: telemetry.Transport(nil)} // for the Config of each provider
//	client, err := socialdata.New(socialdata.WithObserver(telemetry.Observer()), …)
//	srv, err := server.New(client, telemetry.Server()...)
//	mux.Handle("/metrics", page) // on an address that callers cannot reach, or behind server.WithMetrics
//
// # Metrics
//
// By their Prometheus names, each with all of its labels:
//
//	http_server_request_duration_seconds          http_request_method, http_route, http_response_status_code, error_type
//	socialdata_calls_total                        operation, platform, code
//	socialdata_cache_requests_total               class (the operation), result (hit, miss)
//	socialdata_credits_charged_total              platform, operation
//	socialdata_upstream_request_duration_seconds  platform, provider, outcome
//	socialdata_breaker_state                      platform, provider: 0 closed, 1 half open, 2 open; none before it opens
//	socialdata_schema_drift_total                 platform, operation, field
//	socialdata_enricher_invented_words_total      operation
//	socialdata_upstream_quota_left                provider, limit: those that the upstream reports or documents
//	socialdata_upstream_quota_resets_seconds      provider, limit: until it resets
//	socialdata_dependency_state                   dependency: 0 ok, 1 degraded, 2 down, -1 unknown
//
// No label contains text of a caller or of an upstream. All values come from tables of the program, or are replaced by
// "other". The fields that drift are named up to the 500th.
//
// # Traces
//
// Spans follow the semantic conventions for HTTP, except where a value could contain a handle or a credential: url.path
// is the route, and a request to an upstream has the host, but no path or query.
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/
//
// The OpenTelemetry providers that are passed in decide where spans and metrics are sent.
package otel
