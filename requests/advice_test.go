package requests_test

import (
	"strings"
	"testing"
	"time"

	"github.com/socialdata/socialdata/requests"
)

func TestAdvice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asked requests.Provider
		want  string // a part; "" for no advice
	}{
		"it found something":    {requests.Provider{Name: "vendor", Calls: 1}, ""},
		"it was passed over":    {requests.Provider{Name: "vendor", Cause: "not called"}, "called again by itself"},
		"a refused credential":  {requests.Provider{Name: "vendor", Calls: 1, Status: 401, Cause: "status 401"}, "credential of vendor"},
		"no credits are left":   {requests.Provider{Name: "vendor", Calls: 1, Status: 402, Cause: "status 402"}, "credits at vendor"},
		"a rate limit":          {requests.Provider{Name: "vendor", Calls: 2, Status: 429, Cause: "status 429"}, "command quotas"},
		"a failed upstream":     {requests.Provider{Name: "vendor", Calls: 1, Status: 502, Cause: "status 502"}, "nothing to do here"},
		"it does not exist":     {requests.Provider{Name: "vendor", Calls: 1, Status: 404, Cause: "not found"}, ""},
		"no connection is made": {requests.Provider{Name: "vendor", Calls: 1, Cause: "no such host"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.asked.Advice(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("Advice = %q; want %q", got, tt.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call requests.Request
		want string // a part; "" for an answer
	}{
		"an answer":           {requests.Request{Status: 200}, ""},
		"a missing parameter": {requests.Request{Code: "invalid_request", Detail: `parameter "handle" is required: the account`}, "lacks the parameter handle"},
		"a wrong value":       {requests.Request{Code: "invalid_request", Detail: `parameter "fresh" must be true or false`}, "value of the parameter fresh"},
		"a wrong name":        {requests.Request{Code: "invalid_request", Detail: `unknown parameter "…"`}, "does not take"},
		"another detail":      {requests.Request{Code: "invalid_request", Detail: "cursor"}, "a parameter is missing, unknown"},
		"too few credits": {requests.Request{Code: "insufficient_credits", Detail: "the balance does not cover this call: it costs up to 5 credits, " +
			"and the account can spend 2; nothing was charged"}, "short of 3 credits"},
		"a cap of the key": {requests.Request{Code: "insufficient_credits", Detail: "the key has reached its own spending cap: it costs up to 5 " +
			"credits, and the account can spend 20; nothing was charged"}, "Raise the limit of the key"},
		"its own limit":    {requests.Request{Code: "insufficient_credits", Detail: "it may cost 9 credits, and max_credits is 4"}, "Raise max_credits to 9"},
		"the key's rate":   {requests.Request{Code: "rate_limited", Detail: "the key may make 60 calls at once and 0.5 a second; wait"}, "0.5 more each second"},
		"a call under way": {requests.Request{Code: "rate_limited", Detail: "a call with this Idempotency-Key is in progress"}, "not be charged twice"},
		"a missing setting": {
			requests.Request{Code: "platform_unavailable", Detail: "youtube does not offer it: missing the setting api_key"}, "operator sets api_key and",
		},
		"it is not offered":    {requests.Request{Code: "platform_unavailable", Detail: "x does not offer live"}, "does not offer this operation"},
		"an upstream's limit":  {requests.Request{Code: "platform_unavailable", Providers: []requests.Provider{{Status: 429}}}, "not the limit of the key"},
		"a refused credential": {requests.Request{Code: "platform_unavailable", Upstream: 401}, "refused this service's access"},
		"a failed upstream":    {requests.Request{Code: "platform_unavailable", Upstream: 502}, "with the status 502"},
		"no status":            {requests.Request{Code: "platform_unavailable"}, "the server lacks a setting for it, or"},
		"a time-out":           {requests.Request{Code: "upstream_timeout", Took: 15*time.Second + time.Millisecond}, "given up after 15s"},
		"a quick time-out":     {requests.Request{Code: "upstream_timeout"}, "15 seconds in total"},
		"it does not exist":    {requests.Request{Code: "not_found"}, "There is no such"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(tt.call.Explain(), " "); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("Explain = %q; want %q", got, tt.want)
			}
		})
	}
}
