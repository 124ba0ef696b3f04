// Package otel tells OpenTelemetry what a [socialdata.Client] and its server do: traces from the caller's traceparent
// through to the requests that go to upstreams, and metrics.
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
// As Prometheus names them; everything has the labels that stand behind it, and no other:
//
//	http_server_request_duration_seconds          http_request_method, http_route, http_response_status_code, error_type
//	socialdata_calls_total                        operation, platform, code
//	socialdata_cache_requests_total               class (the operation), result (hit, miss)
//	socialdata_credits_charged_total              platform, operation
//	socialdata_upstream_request_duration_seconds  platform, provider, outcome
//	socialdata_breaker_state                      platform, provider: 0 closed, 1 half open, 2 open; none until it has opened
//	socialdata_schema_drift_total                 platform, operation, field
//	socialdata_enricher_invented_words_total      operation
//	socialdata_upstream_quota_left                provider, limit; those that the upstream has told, or documents
//	socialdata_upstream_quota_resets_seconds      provider, limit: until it starts anew
//	socialdata_dependency_state                   dependency: 0 ok, 1 degraded, 2 down, -1 unknown
//
// No label holds a word of a caller or of an upstream. Each comes from a table of the program, or is replaced by
// "other"; of the fields that drift the first 500 have a name.
//
// # Traces
//
// Spans follow the semantic conventions for HTTP, but for what could hold a handle or a credential: url.path is the
// route, and a request to an upstream names the host and neither path nor query.
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/
//
// Where spans and metrics go is the business of the providers that are passed in.
package otel
