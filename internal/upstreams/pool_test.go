package upstreams_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/upstreams"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// poolOf returns a pool of sources of GitHub with the given names, which logs to said.
func poolOf(t *testing.T, said *bytes.Buffer, names ...string) *upstreams.Pool {
	t.Helper()
	var chain providers.Chain
	for _, name := range names {
		chain = append(chain, providers.Provider{
			Name: name, Platform: platform.GitHub,
			Profile: func(context.Context, string) (schema.Profile, error) { return schema.Profile{}, nil },
		})
	}
	pool, err := upstreams.New(upstreams.Config{
		Providers: chain, Observer: observe.Observer{}.Filled(), Now: time.Now, Log: slog.New(slog.NewTextHandler(said, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// try requests a profile whose handle must not be in any log.
func try(ctx context.Context, pool *upstreams.Pool, do upstreams.Do) (upstreams.Answer, error) {
	subject := upstreams.Subject{Name: "quillwort", Sources: pool.Sources(platform.GitHub)}
	return pool.Try(ctx, platform.GitHub, providers.OpProfile, subject, do)
}

func TestTryCallsSourcesUntilOneAnswers(t *testing.T) {
	t.Parallel()
	down := providers.Unavailable(nil, "down for %s", "quillwort")
	tests := []struct {
		name   string
		errs   map[string]error // by source; nil means success
		asked  []string
		answer upstreams.Answer
		kind   error
	}{
		{"the first answers", nil, []string{"api"}, upstreams.Answer{Value: "api", Provider: "api"}, nil},
		{"the next answers", map[string]error{"api": down}, []string{"api", "page"}, upstreams.Answer{Value: "page", Provider: "page"}, nil},
		{"an absence is final", map[string]error{"api": providers.NotFound("gone")}, []string{"api"}, upstreams.Answer{Provider: "api"}, providers.ErrNotFound},
		{"a refusal is final", map[string]error{"api": providers.Invalid("no")}, []string{"api"}, upstreams.Answer{Provider: "api"}, providers.ErrInvalid},
		{"all fail", map[string]error{"api": down, "page": providers.ErrTimeout}, []string{"api", "page"}, upstreams.Answer{}, providers.ErrUnavailable},
		{"an error of no kind", map[string]error{"api": errors.New("odd"), "page": errors.New("odd")}, []string{"api", "page"}, upstreams.Answer{}, providers.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			var asked []string
			answer, err := try(t.Context(), poolOf(t, &said, "api", "page"), func(_ context.Context, a *upstreams.Attempt) (any, error) {
				asked = append(asked, a.Provider.Name)
				if err := tt.errs[a.Provider.Name]; err != nil {
					return nil, err
				}
				return a.Provider.Name, nil
			})
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Errorf("called (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.answer, answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if !errors.Is(err, tt.kind) {
				t.Errorf("error %v, want %v", err, tt.kind)
			}
			if strings.Contains(said.String(), "quillwort") {
				t.Errorf("the log contains the request: %s", said.String())
			}
		})
	}
}

func TestEachErrorNamesItsProviderOnce(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	_, err := try(t.Context(), poolOf(t, &said, "api", "page"), func(context.Context, *upstreams.Attempt) (any, error) {
		return nil, providers.Unavailable(nil, "down")
	})
	const want = "api: profile: upstream unavailable: down\npage: profile: upstream unavailable: down"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	e, ok := errors.AsType[*providers.UpstreamError](err)
	if !ok || e.Provider != "api" || e.Op != providers.OpProfile {
		t.Errorf("%+v", e)
	}
	if _, twice := errors.AsType[*providers.UpstreamError](e.Err); twice {
		t.Errorf("%v is named twice", err)
	}
}

func TestASourceThatHangsIsAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		over := make(chan struct{})
		defer close(over)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		answer, err := try(ctx, poolOf(t, &said, "api", "page"), func(_ context.Context, a *upstreams.Attempt) (any, error) {
			if a.Provider.Name == "api" {
				<-over // even if its context has ended
			}
			return a.Provider.Name, nil
		})
		if took := time.Since(began); err != nil || answer.Provider != "page" || took != 5*time.Second {
			t.Errorf("%+v, %v after %v", answer, err, took)
		}
	})
}

func TestAPanicOfASourceIsAnError(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	_, err := try(t.Context(), poolOf(t, &said, "api"), func(context.Context, *upstreams.Attempt) (any, error) {
		panic("no place for quillwort")
	})
	if !errors.Is(err, upstreams.ErrPanic) {
		t.Errorf("error %v", err)
	}
	if log := said.String(); !strings.Contains(log, "panic=string") || strings.Contains(log, "quillwort") {
		t.Errorf("the log says %s", log)
	}
}

func TestNewRefusesInvalidProviders(t *testing.T) {
	t.Parallel()
	for want, chain := range map[string]providers.Chain{
		`"myspace", which does not exist`: {{Name: "a", Platform: "myspace"}},
		`named "a"`:                       {{Name: "a", Platform: platform.X}, {Name: "a", Platform: platform.X}},
		"has no name":                     {{Platform: platform.X}},
	} {
		_, err := upstreams.New(upstreams.Config{Providers: chain, Now: time.Now})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
