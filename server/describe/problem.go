package describe

import "github.com/socialdata/socialdata/problem"

func problemHeaders(code problem.Code) []string {
	out := []string{"X-Request-Id", "X-Cache", "X-Data-Age"}
	if code == problem.Unauthorized {
		return append(out, "WWW-Authenticate")
	}
	out = append(out, "RateLimit-Policy", "RateLimit") // if the call has a key
	switch code {
	case problem.RateLimited:
		return append(out, "Retry-After")
	case problem.PlatformUnavailable:
		return append(out, "X-Credits-Used", "Retry-After")
	default:
		return append(out, "X-Credits-Used")
	}
}

// sample returns an example of a problem with a code.
func sample(code problem.Code) *problem.Error {
	p := problem.New(code, sampleDetails[code])
	p.RequestID = sampleRequestID
	if code == problem.RateLimited {
		p.RetryAfter = 1e9
	}
	return p
}

const sampleRequestID = "req_06H05TSLBJ7AUUR8788Q7QH0H4"

var sampleDetails = map[problem.Code]string{
	problem.InvalidRequest: `parameter "handle" must not be empty`,
	problem.Unauthorized:   `a valid API key is required; send it in the header "Authorization: Bearer API_KEY"`,
	problem.InsufficientCredits: "the balance does not cover this call: it costs up to 5 credits, and the account can " +
		"spend 2; nothing was charged",
	problem.NotFound:            "there is no such account",
	problem.RateLimited:         "the key's rate limit is reached",
	problem.InternalError:       "something went wrong on our side",
	problem.PlatformUnavailable: "hackernews does not offer GET /v1/hackernews/search",
	problem.UpstreamTimeout:     "the platform did not answer in time",
}

// describeProblem describes the problem document of RFC 9457.
// https://www.rfc-editor.org/rfc/rfc9457#section-3.1
func (c *components) describeProblem() {
	codes := []string{}
	for _, code := range problem.Codes() {
		codes = append(codes, string(code))
	}
	c.schemas["ProblemCode"] = object{
		"type": "string", "enum": codes, "description": "The kind of problem. Programs act on this.",
	}
	text := func(doc string) object { return object{"type": "string", "description": doc} }
	uri := text("The kind of problem, as the address of its explanation.")
	uri["format"] = "uri"
	id := text("The id of this call, for support requests and logs.")
	id["minLength"] = 1
	c.schemas["Problem"] = object{
		"type": "object", "description": "Why a call failed. A failed call costs nothing.",
		"required": []string{"type", "title", "status", "detail", "code", "request_id"},
		"properties": object{
			"type": uri, "title": text("The kind of problem, in words."),
			"detail": text("What went wrong in this call, for people."),
			"status": object{
				"type": "integer", "format": "int64", "minimum": 400, "maximum": 599, "description": "The HTTP status.",
			},
			"code": c.ref("ProblemCode"), "request_id": id,
			"retry_after": object{
				"type": "integer", "format": "int64", "minimum": 0, "description": "Seconds to wait before the next call.",
			},
		},
	}
}
