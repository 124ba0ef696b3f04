package server_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/socialdata/socialdata/callctx"
	"github.com/socialdata/socialdata/internal/enginetest"
)

func TestARefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for path, advice := range map[string]string{
		"/v1/gihtub/profile?handle=a":                   `there is no platform "gihtub" (did you mean github?); GET /v1/platforms lists them`,
		"/v1/GitHub/profile?handle=a":                   `(did you mean github?)`,
		"/v1/mock/profle?handle=a":                      `there is no route /v1/mock/profle (did you mean /v1/mock/profile?)`,
		"/v1/usge":                                      `(did you mean /v1/usage?)`,
		"/v1/mock/zz":                                   `there is no route /v1/mock/zz; see /docs`,
		"/v1/mock/profile?handel=a":                     `unknown parameter "handel" (did you mean handle?); this operation takes handle,`,
		"/v1/mock/profile?handle=a&fersh=true":          `unknown parameter "fersh" (did you mean fresh?)`,
		"/v1/mock/profile":                              `parameter "handle" is required: the account: its handle or public URL`,
		"/v1/mock/profile?handle=a&enrich=english":      `parameter "enrich" must be arabic`,
		"/v1/mock/search?query=a&kind=profil":           `(did you mean profile?)`,
		"/v1/search?query=a&platforms=mok":              `parameter "platforms": there is no platform "mok" (did you mean mock?)`,
		"/v1/mock/linked?handle=a&platforms=mock,githb": `parameter "platforms": there is no platform "githb" (did you mean github?)`,
		"/v1/raw/mok/a":                                 `there is no provider "mok" (did you mean mock?); GET /v1/platforms lists`,
		"/v1/raw/mock/nowhere":                          `on its allow-list; GET /v1/platforms lists it`,
	} {
		if p := s.get(t, path).problem(t); !strings.Contains(p.Detail, advice) {
			t.Errorf("%s: %q does not say %q", path, p.Detail, advice)
		}
	}
	refused := s.do(t, http.MethodGet, "/v1/me", http.Header{}).problem(t)
	if !strings.Contains(refused.Detail, `"Authorization: Bearer API_KEY"`) {
		t.Errorf("without a key: %q", refused.Detail)
	}
}

// TestExampleIDsAreValid checks that ids in the description only have letters that a request id can have.
func TestExampleIDsAreValid(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^req_0[0-9A-V]{25}$`)
	if id := callctx.NewID(); !form.MatchString(id) {
		t.Fatalf("a call has the id %s", id)
	}
	s := open(t, enginetest.Config{})
	shown := regexp.MustCompile(`req_\w+`).FindAllString(string(s.get(t, "/openapi.json").body), -1)
	if len(shown) == 0 {
		t.Error("the description shows no id")
	}
	for _, id := range shown {
		if !form.MatchString(id) {
			t.Errorf("the description shows %s", id)
		}
	}
}
