package socialdata_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// api is what go doc shows of the package in this directory.
type api struct {
	*doc.Package
	internal map[string]string // import paths of internal packages, by the name that the package uses
	hidden   map[string]bool   // unexported types of the package
}

func readAPI(t *testing.T, dir string) *api {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	a := &api{internal: map[string]string{}, hidden: map[string]bool{}}
	fset, files := token.NewFileSet(), []*ast.File(nil)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(fset, path, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		a.note(file)
	}
	if a.Package, err = doc.NewFromFiles(fset, files, "github.com/socialdata/socialdata"); err != nil {
		t.Fatal(err)
	}
	return a
}

// note collects what must not be shown: internal packages and unexported types.
func (a *api) note(file *ast.File) {
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if strings.Contains(path, "/internal/") {
			a.internal[name] = path
		}
	}
	for _, decl := range file.Decls {
		gen, _ := decl.(*ast.GenDecl)
		if gen == nil {
			continue
		}
		for _, spec := range gen.Specs {
			if typ, ok := spec.(*ast.TypeSpec); ok && !typ.Name.IsExported() {
				a.hidden[typ.Name.Name] = true
			}
		}
	}
}

// leaks returns the names in a declaration and its comment that a reader of go doc cannot look up.
func (a *api) leaks(decl ast.Node, text string) []string {
	var out []string
	var look func(ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // its name may be anything
			ast.Inspect(n.Type, look)
			return false
		case *ast.ValueSpec: // its value is not what a reader needs
			if n.Type != nil {
				ast.Inspect(n.Type, look)
			}
			return false
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && a.internal[of.Name] != "" {
				out = append(out, of.Name+"."+n.Sel.Name)
			}
		case *ast.Ident:
			if a.hidden[n.Name] {
				out = append(out, n.Name)
			}
		}
		return true
	}
	ast.Inspect(decl, look)
	for name := range a.internal {
		if strings.Contains(text, "["+name+".") || strings.Contains(text, "[*"+name+".") {
			out = append(out, "["+name+"] in the comment")
		}
	}
	if strings.Contains(text, "internal/") {
		out = append(out, "internal/ in the comment")
	}
	return out
}

// each calls see with every declaration that go doc -all prints.
func (a *api) each(see func(name, text string, decl ast.Node)) {
	funcs := func(of string, all []*doc.Func) {
		for _, f := range all {
			see(of+f.Name, f.Doc, f.Decl)
		}
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			see(strings.Join(v.Names, ", "), v.Doc, v.Decl)
		}
	}
	values(a.Consts)
	values(a.Vars)
	funcs("", a.Funcs)
	for _, typ := range a.Types {
		see(typ.Name, typ.Doc, typ.Decl)
		values(typ.Consts)
		values(typ.Vars)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
	}
}

func TestNoInternalTypeIsExported(t *testing.T) {
	t.Parallel()
	for dir, least := range map[string]int{
		".": 100, "platform": 10, "schema": 100, "problem": 10, "operation": 20, "observe": 5, "providers": 50,
		"providers/kit/upstream": 20, "providers/kit/wire": 20, "providers/kit/text": 10, "providers/providertest": 20,
		"remote": 5, "credits": 20, "cache": 10, "keys": 20, "enrich": 2, "records": 5, "server": 20,
	} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			a, seen := readAPI(t, dir), 0
			a.each(func(name, text string, decl ast.Node) {
				seen++
				for _, leak := range a.leaks(decl, text) {
					t.Errorf("%s shows %s", name, leak)
				}
			})
			if leak := a.leaks(&ast.BadDecl{}, a.Doc); leak != nil {
				t.Errorf("the comment of the package shows %v", leak)
			}
			if seen < least {
				t.Errorf("only %d declarations were looked at", seen)
			}
		})
	}
}
