package docs

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Config is what the pages tell.
type Config struct {
	Operations []Operation           // in the order of the page
	Groups     map[string]string     // what each operation group is about, by its name
	Platforms  []schema.PlatformInfo // what can be read now, and why not where it cannot
	Headers    []Header              // of answers
	Problems   []Problem
	Sections   []Section // shown after the page's own
	Tools      bool      // the Model Context Protocol is served at mcp

	SchemaFiles []string // the JSON Schemas under schemas/, such as "post.json"
}

// Operation is a row with what the description says of it.
type Operation struct {
	*operation.Operation
	ID      string          // its name as a function, such as listPosts; its anchor
	Cost    string          // what a call costs, in a sentence
	Example json.RawMessage // an answer; nil for none
	Schema  string          // the file of its data's JSON Schema under schemas/, such as "post.json"; "" for none
}

// Header is a header field of answers.
type Header struct{ Name, Doc string }

// Problem is a kind of problem, and an example of one.
type Problem struct {
	Code    problem.Code
	Example json.RawMessage
}

// Section is a table of the reader's own.
type Section struct {
	Title string
	Intro string
	Head  []string
	Rows  [][]string
}

// Base stands for the address of the server while pages are rendered, in what a [Config] says too. It is made of characters that no context of HTML
// writes otherwise, as every address that takes its place must be.
const Base = "http://base.invalid/0f6c2b"

// Page is a page in the parts between which the address of the server stands.
type Page [][]byte

// At returns the page as it reads under an address, such as "https://example.org/data": letters, digits and the
// characters -._~:/[] only.
func (p Page) At(address string) []byte { return bytes.Join(p, []byte(address)) }

// pages are the pages by their path, each with its template and the way to the root of the server. Nobody writes to it.
var pages = map[string]struct{ template, root string }{
	"/docs": {"reference", ""}, "/docs/platforms": {"platforms", "../"}, "/docs/fields": {"fields", "../"},
}

// Paths returns the paths of the pages, of which each of the platforms has one.
func Paths(platforms []string) []string {
	out := slices.Sorted(maps.Keys(pages))
	for _, id := range platforms {
		out = append(out, platformPath(id))
	}
	return out
}

// platformPath returns the path of the page of a platform.
func platformPath(id string) string { return "/docs/platforms/" + id }

// Assets returns the files that the pages load, below /docs/, with their media types.
func Assets() map[string]string {
	return map[string]string{
		"docs.css": "text/css; charset=utf-8", "docs.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	}
}

// Asset returns a file of [Assets].
func Asset(name string) ([]byte, error) { return assets.ReadFile("assets/" + name) }

//go:embed assets
var assets embed.FS

// New renders the pages, and what the search looks through. It returns the pages by their path.
func New(cfg Config) (*Site, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"lifetime": lifetime, "slug": slug, "json": highlight, "code": code, "capital": capital,
	}).ParseFS(assets, "assets/*.html")
	if err != nil {
		return nil, err
	}
	guarantees, err := readGuarantees()
	if err != nil {
		return nil, err
	}
	samples, err := readSamples()
	if err != nil {
		return nil, err
	}
	s := site{Config: cfg, Version: version(), Guarantees: guarantees}
	if s.groups, err = s.grouped(); err != nil {
		return nil, err
	}
	out := &Site{Pages: map[string]Page{}}
	render := func(path, name string, s site) error {
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, name+".html", s); err != nil {
			return err
		}
		out.Pages[path] = bytes.Split(squeeze(b.Bytes()), []byte(Base))
		return nil
	}
	for path, p := range pages {
		s.Root, s.Page = p.root, p.template
		if err := render(path, p.template, s); err != nil {
			return nil, err
		}
	}
	for _, p := range cfg.Platforms {
		on := &On{PlatformInfo: p}
		if s, ok := samples[p.Platform]; ok {
			on.Sample = &s
		}
		s.Root, s.Page, s.On = "../../", "platform", on
		if err := render(platformPath(string(p.Platform)), "platform", s); err != nil {
			return nil, err
		}
	}
	out.Index, err = schema.Marshal(s.index(out.Pages["/docs"].At("")))
	return out, err
}

// Site is the documentation of a server.
type Site struct {
	Pages map[string]Page // by their path
	Index []byte          // what the search looks through, as JSON
}

// site is what the templates see.
type site struct {
	Config
	Root       string // leads from the page to the root of the server
	Page       string // the name of its template
	On         *On    // the platform that the page is about; nil for none
	Version    string // of the style sheet and script
	Guarantees []Guarantees

	groups []*Group // what ByGroup returns
}

// Title returns the title of the page.
func (s site) Title() string {
	if s.On != nil {
		return s.On.Name
	}
	return capital(s.Page)
}

// Address returns what stands for the address of the server.
func (site) Address() string { return Base }

// version returns a word that changes with the style sheet and the script.
func version() string {
	sum := sha256.New()
	for _, name := range []string{"docs.css", "docs.js"} {
		body, _ := assets.ReadFile("assets/" + name) // embedded: it is there
		sum.Write(body)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// squeeze leaves out the blank lines and indents that templates leave behind, but for those of code.
func squeeze(page []byte) []byte {
	var out bytes.Buffer
	code := false
	for line := range bytes.Lines(page) {
		if !code {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			line = append(bytes.Clone(line), '\n')
		}
		if i, j := bytes.LastIndex(line, []byte("<pre")), bytes.LastIndex(line, []byte("</pre")); i != j {
			code = i > j
		}
		out.Write(line)
	}
	return out.Bytes()
}

// Group is the operations of one group.
type Group struct {
	Name, Doc  string
	Operations []entry
}

// ByGroup returns the operations by their groups, in the order of the first of each.
func (s site) ByGroup() []*Group { return s.groups }

func (s site) grouped() ([]*Group, error) {
	var out []*Group
	byName := map[string]*Group{}
	for _, o := range s.Operations {
		g := byName[o.Tag]
		if g == nil {
			g = &Group{Name: o.Tag, Doc: s.Groups[o.Tag]}
			byName[o.Tag] = g
			out = append(out, g)
		}
		e, err := s.entry(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		g.Operations = append(g.Operations, e)
	}
	return out, nil
}
