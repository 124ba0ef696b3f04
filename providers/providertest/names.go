package providertest

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/internal/weburl"
	"github.com/socialdata/socialdata/providers"
)

// renewing lets one suite at a time renew names.txt, which the suites of a package share: a second one would read it
// while it is empty, and lose what the others have said.
var renewing sync.Mutex

// unsaid is written to names.txt in place of a missing reason.
const unsaid = "?"

// named checks that the address of each object in the golden files identifies that object. The exceptions, such as a
// comment with the address of its post, are listed with their reasons in names.txt, next to the golden files.
func named(t *testing.T, s Suite, m manifest) {
	t.Helper()
	under := s.open(t, &http.Client{Transport: m})
	chain := slices.Concat(s.New(&http.Client{Transport: m}), s.Others)
	at := slices.IndexFunc(chain, func(p providers.Provider) bool { return p.Platform == under.Platform && p.Names != nil })
	if at < 0 {
		t.Fatal("no provider of the platform names what addresses lead to: set Names")
	}
	var got []string
	own := map[string]bool{}
	for _, c := range s.Calls {
		pages, err := c.read(t.Context(), s.open(t, &http.Client{Transport: m}))
		if err != nil {
			t.Fatal(err)
		}
		own[c.name+".golden.json"] = true
		for _, pg := range pages {
			for _, item := range pg.Items {
				if k, ok := knownBy(item); ok {
					if says := k.named(chain[at]); says != "" {
						got = append(got, c.name+".golden.json\t"+k.url+"\t"+says)
					}
				}
			}
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	file := filepath.Join(s.Dir, "names.txt")
	if *update {
		renewing.Lock()
		defer renewing.Unlock()
	}
	want, reasons, others := listed(t, file, own)
	if *update {
		for i, line := range got {
			if reasons[line] == "" {
				reasons[line] = unsaid
			}
			got[i] = line + "\t" + reasons[line]
		}
		all := slices.Concat(others, got)
		slices.Sort(all)
		var err error
		if len(all) > 0 {
			err = os.WriteFile(file, []byte(strings.Join(all, "\n")+"\n"), 0o644)
		} else if err = os.Remove(file); os.IsNotExist(err) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s, what addresses name that is not the object (-want +got):\n%s", file, diff)
	}
	for line, reason := range reasons {
		if reason == "" || reason == unsaid {
			t.Errorf("%s: no reason for %s", file, line)
		}
	}
}

// listed parses names.txt. It returns the lines about the golden files of a suite without their reasons, those reasons,
// and the lines of other suites.
func listed(t *testing.T, file string, own map[string]bool) (lines []string, reasons map[string]string, others []string) {
	t.Helper()
	reasons = map[string]string{}
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		golden, _, _ := strings.Cut(line, "\t")
		cut := strings.LastIndexByte(line, '\t')
		switch {
		case cut < 0:
			t.Fatalf("%s: %q is not a line of four columns", file, line)
		case own[golden]:
			lines = append(lines, line[:cut])
			reasons[line[:cut]] = line[cut+1:]
		default:
			others = append(others, line)
		}
	}
	return lines, reasons, others
}

// named returns "" if the address of k identifies it, and otherwise what it identifies.
func (k known) named(p providers.Provider) string {
	u, err := url.Parse(k.url)
	if err != nil {
		return err.Error()
	}
	s, id, ok := p.Names(weburl.Through(u))
	if !ok {
		if s == "" {
			return "another site"
		}
		return string(s)
	}
	for _, subject := range k.subjects {
		if s != subject && !slices.Contains(p.Also[s], subject) {
			continue
		}
		// An address may identify two things, such as a comment and its post; the one that is asked for may be the
		// second.
		if also, err := p.Normalize(subject, k.url); err == nil && k.is(also, func(id string) (string, error) { return p.Normalize(subject, id) }) {
			return ""
		}
	}
	return fmt.Sprintf("%s %s", s, id)
}

// agrees checks that an address that is accepted for a subject identifies it, or something that the provider documents.
func agrees(t *testing.T, p providers.Provider, in Input) {
	t.Helper()
	u, err := url.Parse(in.In)
	if err != nil || u.Host == "" || p.Names == nil || in.Want == "" || in.Want == in.In {
		return
	}
	s, id, ok := p.Names(weburl.Through(u))
	switch {
	case !ok && s == "": // a host of the caller's own, such as that of a store
	case ok && s == in.Subject && id == in.Want, slices.Contains(p.Also[s], in.Subject):
	default:
		t.Errorf("%s is taken for the %s %q, but names %s %q", in.In, in.Subject, in.Want, s, id)
	}
}
