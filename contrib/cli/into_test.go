package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/store/sqlite"
	"github.com/socialdata/socialdata/watch"
)

// days is a program whose platform has something else each day.
type days struct {
	t   *testing.T
	db  string
	now time.Time
}

// run runs a command that must succeed, with keys on standard input.
func (d *days) run(keys string, args ...string) string {
	d.t.Helper()
	cfg := Config{Now: func() time.Time { return d.now }, Providers: func(Environment) ([]providers.Chain, error) {
		return []providers.Chain{d.chain()}, nil
	}}
	var out, log bytes.Buffer
	args = append([]string{"--db", d.db}, args...)
	if status := Run(d.t.Context(), cfg, args, Streams{strings.NewReader(keys), &out, &log}, func(string) string { return "" }); status != 0 {
		d.t.Fatalf("%q: exit status %d: %s", args, status, &log)
	}
	return out.String()
}

// chain has the posts of today and of yesterday, and profiles, each with a number that is the day of the month.
func (d *days) chain() providers.Chain {
	today := int64(d.now.Day())
	common := func(id string) schema.Common { return schema.Common{ID: id, URL: "https://github.com/" + id} }
	return providers.Chain{{
		Name: "days", Platform: platform.GitHub, Source: schema.Own,
		Posts: func(_ context.Context, handle, _ string) (page providers.Page[schema.Post], err error) {
			for _, at := range []time.Time{d.now, d.now.AddDate(0, 0, -1)} {
				page.Items = append(page.Items, schema.Post{
					Common: common(handle + "-" + strings.ToLower(at.Weekday().String())), CreatedAt: &at,
					Author: schema.Actor{Platform: platform.GitHub, ID: handle, Handle: handle}, Engagement: schema.Engagement{Likes: &today},
				})
			}
			return page, nil
		},
		Profile: func(_ context.Context, handle string) (schema.Profile, error) {
			return schema.Profile{Common: common(handle), Handle: handle, Followers: &today}, nil
		},
	}}
}

// change adds a change to the feed of an account.
func (d *days) change(c schema.Change) {
	d.t.Helper()
	db, err := sqlite.Open(d.t.Context(), sqlite.Config{Path: d.db})
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			d.t.Error(err)
		}
	}()
	account, err := db.Keys().Account(d.t.Context(), "shop")
	if err != nil {
		d.t.Fatal(err)
	}
	c.At = d.now
	if err := db.Watches().Tell(d.t.Context(), account.ID, []schema.Change{c}); err != nil {
		d.t.Fatal(err)
	}
}

// TestTheSameCommandADayLaterBringsAFileUpToDate runs each command that writes files on a Sunday and on the Monday.
func TestTheSameCommandADayLaterBringsAFileUpToDate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f.db")
	d := &days{t: t, db: filepath.Join(t.TempDir(), "t.db"), now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	d.run("", "account", "create", "shop")
	d.change(schema.Change{
		ID: "chg_1", Type: watch.Changed, Monitor: new("ann"), Operation: new("profile"), Platform: new("github"), Key: new("ann"),
		Object: []byte(`{"id":"ann","followers":1}`),
		Fields: []schema.FieldChange{{Field: "followers", Before: []byte("0"), After: []byte("1")}},
	})
	for _, next := range []schema.Change{{ // of the account: it has no platform
		ID: "chg_2", Type: "balance_low", Detail: new("5 credits are left"), Fields: []schema.FieldChange{},
	}, {
		ID: "chg_3", Type: watch.New, Monitor: new("posts"), Operation: new("posts"), Platform: new("github"), Key: new("7"),
		Object: []byte(`{"id":"7","text":"it's \"new\""}`), Fields: []schema.FieldChange{},
	}} {
		d.change(next)
		d.run("", "export", "github", "posts", "handle=ann", "--into", file)
		d.run("ann\nomar\n", "batch", "github", "profile", "--into", file)
		d.run("", "sql", "SELECT * FROM posts WHERE platform = 'github' AND handle = 'omar'", "--into", file)
		d.run("", "changes", "--account", "shop", "--into", file)
		d.now = d.now.AddDate(0, 0, 1)
	}
	for query, want := range map[string]string{
		"SELECT id, likes, first_seen, last_seen FROM f.posts ORDER BY created_at": "ann-saturday,1,2026-11-01T12:00:00Z,2026-11-01T12:00:00Z\n" +
			"ann-sunday,2,2026-11-01T12:00:00Z,2026-11-02T12:00:00Z\nann-monday,2,2026-11-02T12:00:00Z,2026-11-02T12:00:00Z\n",
		"SELECT id, followers, first_seen < last_seen FROM f.profile ORDER BY id": "ann,2,1\nomar,2,1\n",
		"SELECT id, likes, first_seen < last_seen FROM f.rows ORDER BY created_at": "omar-saturday,1,0\nomar-sunday,2,1\n" +
			"omar-monday,2,0\n",
		"SELECT id, at, first_seen, first_seen < last_seen FROM f.changes ORDER BY seq": "chg_1,2026-11-01T12:00:00Z,2026-11-01T12:00:00Z,1\n" +
			"chg_2,2026-11-01T12:00:00Z,2026-11-01T12:00:00Z,1\nchg_3,2026-11-02T12:00:00Z,2026-11-02T12:00:00Z,0\n",
		"SELECT platform, monitor, object ->> 'text', fields ->> '$[0].after', detail FROM f.changes ORDER BY seq": "github,ann,,1,\n" +
			",,,,5 credits are left\ngithub,posts,\"it's \"\"new\"\"\",,\n",
	} {
		_, rows, _ := strings.Cut(d.run("", "sql", query, "--attach", file, "-o", "csv"), "\n")
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	csv := strings.TrimSuffix(file, tableFile) + ".csv"
	d.run("", "changes", "--account", "shop", "--into", csv)
	written, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.run("", "changes", "--account", "shop", "-o", "csv"), string(written)); diff != "" {
		t.Errorf("changes -o csv and --into (-want +got):\n%s", diff)
	}
}
