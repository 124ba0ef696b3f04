package pinterest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// shortener resolves short links.
type shortener struct{ http *upstream.Client }

func newShortener(cfg Config) shortener {
	return shortener{upstream.New(upstream.Config{
		HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.pinterest.com"), Check: checkShort, Absent: absentOfficial,
		Quota: upstream.NewQuota(0, 0),
	})}
}

// movedError is a redirect to the site that was not followed.
type movedError struct{ to string }

// Error returns where the redirect leads.
func (e *movedError) Error() string { return fmt.Sprintf("moved to %q", e.to) }

// checkShort returns the redirect in the answer as a movedError.
func checkShort(res *upstream.Response) error {
	if res.Status >= 300 && res.Status < 400 {
		return &movedError{res.Header.Get("Location")}
	}
	return nil
}

// resolve returns id, or its target if it is a short link.
func (s shortener) resolve(ctx context.Context, subject providers.Subject, id string) (string, error) {
	name, isShort := strings.CutPrefix(id, short+"/")
	if !isShort {
		return id, nil
	}
	_, err := s.http.Do(ctx, upstream.Get("url_shortener", name, "redirect/"))
	moved, ok := errors.AsType[*movedError](err)
	switch {
	case err != nil && !ok:
		return "", err
	case !ok:
		return "", providers.Unavailable(nil, "Pinterest does not show the target of the short link")
	}
	to, err := addresses.Normalize(subject, moved.to)
	if err != nil || strings.HasPrefix(to, short+"/") {
		return "", providers.NotFound("this short link leads to no %s", subject)
	}
	return to, nil
}
