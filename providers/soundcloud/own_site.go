package soundcloud

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// website finds the website's public client id, which is in its first page or in one of the scripts that this page
// loads.
type website struct {
	http *http.Client
	page *upstream.Client
}

// idLife is how long a client id is used before it is looked up again; it changes every few weeks.
const idLife = 6 * time.Hour

// clientIDs returns the website's client id as a token. It is looked up when it is first needed, and again when it is
// refused.
func clientIDs(cfg Config) *upstream.Tokens {
	if cfg.OwnClientID != "" {
		return upstream.NewTokens(func(context.Context) (upstream.Token, error) {
			return upstream.Token{Value: cfg.OwnClientID}, nil
		}, nil)
	}
	w := &website{
		http: cfg.HTTP,
		page: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.SiteURL, "https://soundcloud.com"), Header: http.Header{"Accept": {"text/html"}},
		}),
	}
	return upstream.NewTokens(func(ctx context.Context) (upstream.Token, error) {
		id, err := w.find(ctx)
		return upstream.Token{Value: id, Expires: time.Now().Add(idLife)}, err
	}, nil)
}

// mostScripts is how many scripts are searched, from the last of the page backwards.
const mostScripts = 5

var errNoClientID = errors.New("soundcloud: the website shows no client id")

func (w *website) find(ctx context.Context) (string, error) {
	res, err := w.page.Do(ctx, upstream.Get())
	if err != nil {
		return "", err
	}
	scripts := island.Read(res.Body).Scripts
	for _, s := range scripts {
		if id := hydrated(s.Body); id != "" {
			return id, nil
		}
	}
	looked := 0
	for _, s := range slices.Backward(scripts) {
		u, err := url.Parse(s.Attribute("src"))
		if err != nil || u.Scheme != "https" || !strings.HasSuffix(u.Host, ".sndcdn.com") || !strings.HasSuffix(u.Path, ".js") {
			continue
		}
		if looked++; looked > mostScripts {
			break
		}
		host := upstream.New(upstream.Config{HTTP: w.http, Base: u.Scheme + "://" + u.Host})
		if res, err = host.Do(ctx, upstream.Get(strings.Trim(u.Path, "/"))); err != nil {
			return "", err
		}
		if m := inScript.FindSubmatch(res.Body); m != nil {
			return string(m[1]), nil
		}
	}
	return "", errNoClientID
}

var (
	inScript = regexp.MustCompile(`client_id[:=]"([A-Za-z0-9]{16,64})"`)
	clientID = regexp.MustCompile(`^[A-Za-z0-9]{16,64}$`)
)

// hydrated returns the client id in the data that a script passes to the page, as in window.__sc_hydration = [...].
func hydrated(script []byte) string {
	_, data, _ := bytes.Cut(script, []byte("__sc_hydration"))
	_, data, _ = bytes.Cut(data, []byte("="))
	var parts []struct {
		Hydratable string `json:"hydratable"`
		Data       struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	// Text after the list is not part of it. A part of another type has another kind of id.
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&parts); err != nil && parts == nil {
		return ""
	}
	for _, p := range parts {
		if p.Hydratable == "apiClient" && clientID.MatchString(p.Data.ID) {
			return p.Data.ID
		}
	}
	return ""
}
