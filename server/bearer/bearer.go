// Package bearer reads the token with which a caller authenticates a request. Every front end that accepts one reads it
// here, so that no two of them can attribute the same request to different callers.
package bearer

import (
	"net/http"
	"strings"
)

// Token returns the bearer token of the Authorization header. It is "" when there is none, and when the header is given
// more than once: a proxy might read a different one than we do.
// https://www.rfc-editor.org/rfc/rfc6750#section-2.1
func Token(r *http.Request) string {
	given := r.Header.Values("Authorization")
	if len(given) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
