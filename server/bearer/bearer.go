// Package bearer reads the token with which a caller authenticates a request. Every front end that accepts a token
// reads it here, so that all of them attribute a request to the same caller.
package bearer

import (
	"net/http"
	"strings"
)

// Token returns the bearer token of the Authorization header. It is "" if there is no token, and if the header is given
// more than once: a proxy might read a different one than we do. https://www.rfc-editor.org/rfc/rfc6750#section-2.1
func Token(r *http.Request) string {
	given := r.Header["Authorization"]
	if len(given) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
