package catalogue

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite rows.go")

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The rows are compiled into the program, because decoding them at each start took
// three milliseconds. They are those of models.json.
func TestRows(t *testing.T) {
	t.Parallel()
	var f struct {
		Models []Model `json:"models"`
	}
	if err := json.Unmarshal(read(t, "models.json"), &f); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("rows.go", source(t, f.Models), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(read(t, "rows.go"), source(t, f.Models)) {
		t.Error("models.json has changed: run make gen")
	}
	if diff := cmp.Diff(f.Models, rows[:]); diff != "" {
		t.Error(diff)
	}
}

// source returns the Go source of rows. It has no calls, so that the compiler lays
// the rows out and nothing runs at the start.
func source(t *testing.T, models []Model) []byte {
	t.Helper()
	var w writer
	for _, m := range models {
		w.value(reflect.ValueOf(m), "")
		w.text.WriteString(",\n")
	}
	out, err := format.Source(fmt.Appendf(nil, `// Code generated from models.json by "make gen". DO NOT EDIT.

package catalogue

import "atelier.dev/atelier/agent/llm"

var (
	yes, no = true, false
	rates   = [...]Rate{%s}
)

var rows = [...]Model{
%s}
`, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(w.rates)), ", "), "[]"), w.text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writer writes values as Go source.
type writer struct {
	text  strings.Builder
	rates []Rate // to which the text points
}

func (w *writer) value(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Pointer:
		w.pointer(v.Elem())
	case reflect.Struct:
		w.text.WriteString(name + "{")
		for i := range v.NumField() {
			f, field := v.Type().Field(i), v.Field(i)
			if field.IsZero() {
				continue
			}
			w.text.WriteString(f.Name + ": ")
			w.value(field, f.Type.Name())
			w.text.WriteString(", ")
		}
		w.text.WriteString("}")
	case reflect.Slice:
		w.text.WriteString(strings.ReplaceAll(v.Type().String(), "catalogue.", "") + "{")
		for _, item := range v.Seq2() {
			w.value(item, "")
			w.text.WriteString(", ")
		}
		w.text.WriteString("}")
	default:
		fmt.Fprintf(&w.text, "%#v", v)
	}
}

// pointer writes the address of a value. Only a variable's is known to the compiler
// if the value is not a struct.
func (w *writer) pointer(v reflect.Value) {
	switch it := v.Interface().(type) {
	case Rate:
		i := slices.Index(w.rates, it)
		if i < 0 {
			i = len(w.rates)
			w.rates = append(w.rates, it)
		}
		fmt.Fprintf(&w.text, "&rates[%d]", i)
	case bool:
		w.text.WriteString(map[bool]string{true: "&yes", false: "&no"}[it])
	default:
		w.text.WriteString("&")
		w.value(v, v.Type().Name())
	}
}
