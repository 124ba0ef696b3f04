package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/describe"
	"github.com/socialdata/socialdata/server/docs"
)

const llms = `# socialdata

> Public social and commerce data from many platforms through one JSON API.

- [API description](openapi.json): OpenAPI 3.1
- [Documentation](docs): routes, parameters, errors, credits
- [Reference as text](llms-full.txt): the documentation in one file
- [Platforms](v1/platforms): what can be read from each platform
- [Fields](docs/fields): which fields each platform fills
- [Changelog](docs/changelog): what is new
`

// toolsPath is where a server of the Model Context Protocol is mounted, if there is one.
const toolsPath = "/mcp"

// dashboardPath is where the pages of the operator are mounted, if they are.
const dashboardPath = "/dashboard"

const llmsTools = "- [Tools](mcp): the same reads through the Model Context Protocol, streamable HTTP, with the same " +
	"keys\n"

// catalog lists the descriptions of this service.
// https://www.rfc-editor.org/rfc/rfc9727
const catalog = `{"linkset":[{"anchor":"../","service-desc":[{"href":"../openapi.json","type":"application/json"}],` +
	`"service-doc":[{"href":"../docs","type":"text/html"}],"status":[%s]}]}`

// The status in the catalog, without and with [WithStatus].
const (
	catalogHealth = `{"href":"../health","type":"application/json"}`
	catalogStatus = `{"href":"../status","type":"text/html"},{"href":"../status.json","type":"application/json"}`
)

// documents registers the descriptions and the documentation of the service.
func (s *Server) documents() {
	about := documentation{s.config, s.client}
	description := sync.OnceValues(about.describe)
	described := func(path, media string, part func(*describe.Description) []byte) {
		s.document(path, sync.OnceValues(func() (*static, error) {
			d, err := description()
			if err != nil {
				return nil, err
			}
			return newStatic(media, part(d)), nil
		}))
	}
	described("/openapi.json", "application/json", func(d *describe.Description) []byte { return d.OpenAPI })
	if len(s.changes) > 0 {
		s.document(managePath+"openapi.json", sync.OnceValues(func() (*static, error) {
			body, err := describe.Manage(s.changes)
			return newStatic("application/json", body), err
		}))
	}
	for _, file := range describe.SchemaFiles() {
		described("/schemas/"+file, "application/schema+json",
			func(d *describe.Description) []byte { return d.Schemas[file] })
	}
	s.document("/.well-known/api-catalog", sync.OnceValues(func() (*static, error) {
		state := catalogHealth
		if s.status {
			state = catalogStatus
		}
		return newStatic("application/linkset+json", fmt.Appendf(nil, catalog, state)), nil
	}))
	s.leads("/{$}", "docs")
	s.leads("/docs/{$}", "../docs")
	for name, media := range docs.Assets() {
		s.document("/docs/"+name, sync.OnceValues(func() (*static, error) {
			body, err := docs.Asset(name)
			return newStatic(media, body), err
		}))
	}
	pages := sync.OnceValues(func() (*docs.Site, error) { return about.pages(description) })
	s.document("/docs/search.json", sync.OnceValues(func() (*static, error) {
		all, err := pages()
		if err != nil {
			return nil, err
		}
		return newStatic("application/json", all.Index), nil
	}))
	s.document("/llms.txt", sync.OnceValues(func() (*static, error) {
		all, err := pages()
		if err != nil {
			return nil, err
		}
		words := llms
		if s.mounted[toolsPath] != nil {
			words += llmsTools
		}
		return newStatic("text/plain; charset=utf-8", append([]byte(words), all.Short...)), nil
	}))
	s.page("/llms-full.txt", "text/plain; charset=utf-8", func() (docs.Page, error) {
		all, err := pages()
		if err != nil {
			return nil, err
		}
		return all.Text, nil
	})
	for _, path := range docs.Paths(s.front.PlatformTable().Names(), s.sectionPages()) {
		s.page(path, "text/html; charset=utf-8", func() (docs.Page, error) {
			all, err := pages()
			if err != nil {
				return nil, err
			}
			return all.Pages[path], nil
		})
	}
}

// sectionPages returns the names of the pages of sections.
func (s *Server) sectionPages() []string {
	var out []string
	for _, section := range s.sections {
		if section.Page != "" && !slices.Contains(out, section.Page) {
			out = append(out, section.Page)
		}
	}
	return out
}

// documentation makes the description of a service, and its pages for people.
type documentation struct {
	config

	client *socialdata.Client
}

// describe returns the description of the service. It does not change while the program runs, since it includes
// platforms that are not configured.
func (p documentation) describe() (*describe.Description, error) {
	platforms, err := p.client.Platforms(context.Background(), socialdata.PlatformsRequest{})
	if err != nil {
		return nil, err
	}
	return describe.New(platforms.Data)
}

// pages renders the pages for people.
func (p documentation) pages(description func() (*describe.Description, error)) (*docs.Site, error) {
	d, err := description()
	if err != nil {
		return nil, err
	}
	cfg, err := p.content(d)
	if err != nil {
		return nil, err
	}
	return docs.New(cfg)
}

// content returns the content of the pages.
func (p documentation) content(d *describe.Description) (docs.Config, error) {
	platforms, err := p.client.Platforms(context.Background(), socialdata.PlatformsRequest{})
	if err != nil {
		return docs.Config{}, err
	}
	cfg := docs.Config{
		Groups: d.Groups, Platforms: platforms.Data, Tools: p.mounted[toolsPath] != nil,
		Dashboard: p.mounted[dashboardPath] != nil, SandboxKey: p.sandboxKey, SchemaFiles: describe.SchemaFiles(), Changes: p.changes,
		ChangeErrors: describe.ChangeProblems(), Changelog: socialdata.Changelog(),
	}
	cfg.PageSizes = map[platform.ID]map[string]int{}
	for _, of := range platforms.Data {
		cfg.PageSizes[of.Platform] = socialdata.FrontEnd(p.client).PageSizes(of.Platform)
	}
	for _, o := range d.Operations {
		cfg.Operations = append(cfg.Operations, docs.Operation(o))
	}
	for _, h := range d.Headers {
		cfg.Headers = append(cfg.Headers, docs.Header(h))
	}
	for _, each := range d.Problems {
		own := *each
		own.Type = p.explained(own.Code)
		example, err := schema.Marshal(&own)
		if err != nil {
			return cfg, err
		}
		cfg.Problems = append(cfg.Problems, docs.Problem{Code: own.Code, Example: example})
	}
	for _, section := range p.sections {
		cfg.Sections = append(cfg.Sections, docs.Section(section))
	}
	return cfg, nil
}

// leads redirects a path to another one, relative to it because the handler may be mounted anywhere.
func (s *Server) leads(path, to string) {
	s.mux.Handle(path, s.reading(func(w *response, _ *http.Request) {
		w.route, w.operation = path, path
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}))
}

// addresses is for how many addresses a page is kept compressed.
const addresses = 4

// compressed limits how often a page is compressed for another address. That takes a hundred times longer than an
// answer, and a client can invent an address for each request.
func compressed() *rate.Limiter { return rate.NewLimiter(1, addresses) }

// policy lets a page load from its own origin only, run no inline script, and be embedded in no other page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page serves the page of a path, which contains the address under which it is read.
func (s *Server) page(path, media string, content func() (docs.Page, error)) {
	ready, _ := lru.New[string, *static](addresses) // fails only for a size below 1
	limit := compressed()
	s.mux.Handle(path, s.reading(func(w *response, r *http.Request) {
		w.route, w.operation = path, path
		address := cmp.Or(s.public, addressOf(r), "http://localhost")
		body, ok := ready.Get(address)
		if !ok {
			page, err := content()
			if err != nil {
				s.fail(w, r, err)
				return
			}
			body = newStatic(media, page.At(address))
			if limit.Allow() {
				ready.Add(address, body)
			} else {
				body.zipped = nil
			}
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Vary", forwardedProto)
		body.serve(w, r)
	}))
}
