package schema

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files, and docs.go")

// TestDocsAreTheComments checks that docs.go contains the doc comments of this package; -update rewrites it.
func TestDocsAreTheComments(t *testing.T) {
	t.Parallel()
	want := readComments(t)
	if *update {
		if err := os.WriteFile("docs.go", docsFile(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, docs()); diff != "" {
		t.Errorf("docs.go (-comments +docs.go); run go test ./schema -update:\n%s", diff)
	}
}

func TestEveryPropertyHasADescription(t *testing.T) {
	t.Parallel()
	for _, typ := range structs() {
		if Doc(typ.Name()) == "" {
			t.Errorf("%s has no description", typ.Name())
		}
		for _, f := range Fields(typ) {
			if f.Doc == "" {
				t.Errorf("%s.%s has no description", typ.Name(), f.Name)
			}
		}
	}
	for _, v := range Vocabularies() {
		if Doc(v.Name) == "" {
			t.Errorf("the vocabulary %s has no description", v.Name)
		}
	}
}

// TestVocabulariesHoldEveryConstant finds a constant that is missing in the list of its type.
func TestVocabulariesHoldEveryConstant(t *testing.T) {
	t.Parallel()
	constants := map[string][]string{}
	for _, file := range source(t) {
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.CONST {
				addConstants(t, constants, file.Name.Name, gen)
			}
		}
	}
	for name, want := range constants {
		if name == "Form" || name == "ColumnKind" || name == "Source" { // no words of answers; Source is open for third parties
			continue
		}
		got := vocabulary(name).Words
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); diff != "" {
			t.Errorf("%s (-constants +vocabulary):\n%s", name, diff)
		}
	}
	if len(constants) < 10 {
		t.Errorf("constants of %d types were found", len(constants))
	}
}

func addConstants(t *testing.T, constants map[string][]string, pkg string, gen *ast.GenDecl) {
	t.Helper()
	for _, spec := range gen.Specs {
		v := spec.(*ast.ValueSpec)
		name, ok := v.Type.(*ast.Ident)
		if !ok {
			continue
		}
		key := name.Name
		switch pkg {
		case "platform":
			key = "PlatformID"
		case "problem":
			key = problemCode
		}
		text, ok := v.Values[0].(*ast.BasicLit)
		if !ok { // a number, which does not occur in answers
			continue
		}
		word, err := strconv.Unquote(text.Value)
		if err != nil {
			t.Fatal(err)
		}
		constants[key] = append(constants[key], word)
	}
}

// structs returns every struct that an answer can contain.
func structs() []reflect.Type {
	var out []reflect.Type
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch {
		case typ.Kind() == reflect.Map:
			typ = typ.Elem()
		case typ == reflect.TypeFor[Optional[Enrichment]]():
			typ = reflect.TypeFor[Enrichment]()
		}
		typ = element(typ)
		if typ.Kind() != reflect.Struct || typ.PkgPath() != reflect.TypeFor[Post]().PkgPath() || slices.Contains(out, typ) {
			return
		}
		out = append(out, typ)
		for _, f := range Fields(typ) {
			walk(f.Type)
		}
	}
	for _, typ := range resources() {
		walk(typ)
	}
	return out
}

// resources lists the types of answers; the types within them are found from there.
func resources() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[Profile](), reflect.TypeFor[Audience](), reflect.TypeFor[LinkedProfile](),
		reflect.TypeFor[Suggestion](),
		reflect.TypeFor[Post](), reflect.TypeFor[Comment](), reflect.TypeFor[Transcript](), reflect.TypeFor[LiveStream](),
		reflect.TypeFor[Collection](), reflect.TypeFor[Track](), reflect.TypeFor[Product](), reflect.TypeFor[Review](),
		reflect.TypeFor[Ad](), reflect.TypeFor[Advertiser](), reflect.TypeFor[Event](), reflect.TypeFor[WebPage](),
		reflect.TypeFor[Meta](), reflect.TypeFor[Me](), reflect.TypeFor[Health](), reflect.TypeFor[Usage](),
		reflect.TypeFor[PlatformInfo](),
	}
}

// readComments returns the doc comment of each type by its name, and of each property by Type.property.
func readComments(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, file := range source(t) {
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
				addType(out, file.Name.Name, gen)
			}
		}
	}
	return out
}

// source returns the files of this package, and those of other packages with words in answers.
func source(t *testing.T) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, name := range append(names, filepath.Join("..", "platform", "platform.go"), filepath.Join("..", "problem", "problem.go")) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file)
	}
	return out
}

func addType(out map[string]string, pkg string, gen *ast.GenDecl) {
	spec := gen.Specs[0].(*ast.TypeSpec)
	name := spec.Name.Name
	if pkg != "schema" {
		if of := map[string]string{"platform.ID": platformIDs, "problem.Code": problemCode}[pkg+"."+name]; of != "" {
			out[of] = typeDoc(name, gen.Doc.Text())
		}
		return
	}
	structure, ok := spec.Type.(*ast.StructType)
	if _, isWords := spec.Type.(*ast.Ident); ast.IsExported(name) && (ok && hasProperties(structure) || isWords) {
		out[name] = typeDoc(name, gen.Doc.Text())
	}
	if !ok {
		return
	}
	for _, f := range structure.Fields.List {
		if property := property(f); property != "" && property != "-" && ast.IsExported(name) {
			out[name+"."+property] = sentence(f.Doc.Text() + f.Comment.Text())
		}
	}
}

func hasProperties(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return property(f) != "" || f.Names == nil })
}

func property(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
	return name
}

// typeDoc turns "Post is what an account publishes" into "What an account publishes".
func typeDoc(name, comment string) string {
	first, _, _ := strings.Cut(comment, "\n\n")
	rest := strings.TrimPrefix(first, name+" ")
	return sentence(strings.TrimPrefix(rest, "is "))
}

var link = regexp.MustCompile(`\[([A-Za-z.]+)\]`)

// sentence formats a comment for readers of the API: one line that begins and ends as a sentence.
func sentence(comment string) string {
	s := link.ReplaceAllString(strings.Join(strings.Fields(comment), " "), "$1")
	if s == "" {
		return ""
	}
	return strings.TrimSuffix(strings.ToUpper(s[:1])+s[1:], ".") + "."
}

func docsFile(t *testing.T, docs map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("// Code generated from the doc comments of this package by go test -update; DO NOT EDIT.\n\n" +
		"package schema\n\n// docs holds what each type means, and each property by Type.property.\n" +
		"func docs() map[string]string {\nreturn map[string]string{\n")
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		fmt.Fprintf(&b, "%q: %q,\n", name, docs[name])
	}
	b.WriteString("}\n}\n")
	out, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return out
}
