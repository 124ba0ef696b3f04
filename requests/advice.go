package requests

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/problem"
)

// What the details of problems say.
var (
	ofParameter = regexp.MustCompile(`^parameter "(\w+)"( is required)?`)
	ofPrice     = regexp.MustCompile(`costs up to (\d+) credits?, and the account can spend (\d+)`)
	ofMost      = regexp.MustCompile(`may cost (\d+) credits, and max_credits is (\d+)`)
	ofRate      = regexp.MustCompile(`may make (\d+) calls at once and ([\d.]+) a second`)
	ofSetting   = regexp.MustCompile(`missing the settings? (.+)$`)
)

// Explain returns why the call failed and what to do, as exactly as its record says; nil for an answer. Without the
// Upstream and the Providers of r it is for the account.
func (r *Request) Explain() []string {
	var own []string
	switch problem.Code(r.Code) {
	case problem.InvalidRequest:
		own = explainParameter(r.Detail)
	case problem.InsufficientCredits:
		own = explainCredits(r.Detail)
	case problem.RateLimited:
		own = explainRate(r.Detail)
	case problem.PlatformUnavailable:
		own = r.explainUpstream()
	case problem.UpstreamTimeout:
		if r.Took >= time.Second {
			own = []string{
				"The platform did not answer in time: the call was given up after " +
					r.Took.Round(100*time.Millisecond).String() + ".",
				"Retry later. Nothing was charged.",
			}
		}
	case problem.Unauthorized, problem.NotFound, problem.InternalError:
	}
	if own != nil {
		return own
	}
	return problem.Code(r.Code).Explain()
}

func explainParameter(detail string) []string {
	if strings.HasPrefix(detail, "unknown parameter") {
		return []string{
			"The request has a parameter that this operation does not take.",
			"Remove it or correct its name. Repeating the request unchanged does not help.",
		}
	}
	m := ofParameter.FindStringSubmatch(detail)
	switch {
	case m == nil:
		return nil
	case m[2] != "":
		return []string{"The request lacks the parameter " + m[1] + ".", "Add it, and call again. Nothing was charged."}
	}
	return []string{
		"The value of the parameter " + m[1] + " cannot be used.",
		"Correct it as the detail says. Repeating the request unchanged does not help.",
	}
}

func explainCredits(detail string) []string {
	if m := ofMost.FindStringSubmatch(detail); m != nil {
		return []string{
			"The call may cost more than its own max_credits.", "Raise max_credits to " + m[1] + ", or ask for less.",
		}
	}
	m := ofPrice.FindStringSubmatch(detail)
	switch {
	case m == nil:
		return nil
	case strings.Contains(detail, "spending cap"):
		return []string{
			"The key has reached the limit of what it may spend.",
			"Raise the limit of the key, or wait for the next day (UTC) if it is a daily one.",
		}
	}
	price, _ := strconv.ParseInt(m[1], 10, 64) // digits
	balance, _ := strconv.ParseInt(m[2], 10, 64)
	return []string{
		"The account was short of " + inCredits(price-balance) + ".",
		"Grant it at least " + inCredits(price-balance) + ", or make a cheaper call: fresh and enrich cost more than a plain call.",
	}
}

// inCredits writes a number of credits.
func inCredits(n int64) string {
	if n == 1 {
		return "1 credit"
	}
	return strconv.FormatInt(n, 10) + " credits"
}

func explainRate(detail string) []string {
	if m := ofRate.FindStringSubmatch(detail); m != nil {
		return []string{
			"The key was used faster than its rate: " + m[1] + " calls at once, and " + m[2] + " more each second.",
			"Wait as long as the header Retry-After says, or give the key a higher rate.",
		}
	}
	if strings.Contains(detail, "this Idempotency-Key is in progress") {
		return []string{
			"Another call with the same Idempotency-Key was still in progress.", "Retry: you will not be charged twice.",
		}
	}
	return nil
}

// explainUpstream explains a platform_unavailable, by the setting that is missing or by what the upstream answered.
func (r *Request) explainUpstream() []string {
	if m := ofSetting.FindStringSubmatch(r.Detail); m != nil {
		return []string{
			"The service lacks a setting for this operation.",
			"The operator sets " + strings.TrimRight(m[1], ".") + " and starts the server again. Waiting does not help.",
		}
	}
	if strings.Contains(r.Detail, "does not offer") {
		return []string{
			"The platform does not offer this operation here.",
			"Waiting does not help: the page Platforms shows what it offers.",
		}
	}
	status := r.Upstream
	for _, p := range r.Providers {
		if p.Status != 0 {
			status = p.Status
		}
	}
	switch {
	case status == http.StatusTooManyRequests, strings.Contains(r.Detail, "rate limiting us"):
		return []string{
			"The upstream is rate limiting this service. It is not the limit of the key.",
			"Retry after the time in the header Retry-After. Nothing was charged.",
		}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, strings.Contains(r.Detail, "refused our credential"):
		return []string{
			"The upstream refused this service's access.",
			"The operator checks the credential. Until then, waiting does not help. Nothing was charged.",
		}
	case status >= http.StatusInternalServerError:
		return []string{
			fmt.Sprintf("The upstream failed by itself, with the status %d.", status), "Retry later. Nothing was charged.",
		}
	}
	return nil
}

// Advice returns what the operator can do about a provider that found nothing, in a sentence; "" when there is nothing
// to do.
func (p *Provider) Advice() string {
	switch {
	case p.Cause == "":
		return ""
	case p.Calls == 0:
		return "It is called again by itself; GET /v1/health and the command doctor show its state."
	case p.Status == http.StatusUnauthorized, p.Status == http.StatusForbidden:
		return "The upstream refuses access: check the credential of " + p.Name + "; the command doctor tests it."
	case p.Status == http.StatusPaymentRequired:
		return "The credits at " + p.Name + " are used up: buy more there."
	case p.Status == http.StatusTooManyRequests:
		return "The upstream is rate limiting us: the command quotas shows what is left of its limits."
	case p.Status >= http.StatusInternalServerError:
		return "The upstream failed by itself: there is nothing to do here."
	}
	return ""
}
