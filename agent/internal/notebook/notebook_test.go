package notebook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const book = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"x":  1},
   "source": ["# Rows\n", "é <b>"]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b2",
   "metadata": {},
   "outputs": [
    {"data": {"text/plain": ["12"]}, "execution_count": 3, "metadata": {}, "output_type": "execute_result"}
   ],
   "source": "rows()"
  }
 ],
 "metadata": {"kernelspec": {"name": "python3"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

// OAS-322: an edit changes its cell; ids, outputs, metadata and form of all else stay byte
// for byte.
func TestApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text     string
		edit     Edit
		old, new string // what is replaced in the text
		at       int
	}{
		"replace":   {book, Edit{Mode: Replace, Cell: "b2", Source: "a < b\nc\n"}, `"source": "rows()"`, "\"source\": [\n    \"a < b\\n\",\n    \"c\\n\"\n   ]", 1},
		"by number": {book, Edit{Mode: Replace, Cell: "cell-0", Source: ""}, `["# Rows\n", "é <b>"]`, "[]", 0},
		"of another type": {book, Edit{Mode: Replace, Cell: "intro", Source: "x", Type: "code"},
			book[strings.Index(book, "{\n   \"cell_type\": \"markdown\""):strings.Index(book, ",\n  {\n   \"cell_type\": \"code\"")],
			"{\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"intro\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"x\"\n   ]\n  }", 0},
		"insert first": {book, Edit{Mode: Insert, Source: "t", Type: "markdown", ID: "n1"}, "\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"intro\"",
			"\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"n1\",\n   \"metadata\": {},\n   \"source\": [\n    \"t\"\n   ]\n  },\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"intro\"", 0},
		"insert last": {book, Edit{Mode: Insert, Cell: "b2", Source: "", ID: "n1"}, "\"source\": \"rows()\"\n  }",
			"\"source\": \"rows()\"\n  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"n1\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": []\n  }", 2},
		"delete first": {book, Edit{Mode: Delete, Cell: "intro"}, book[strings.Index(book, "{\n   \"cell_type\": \"markdown\""):strings.Index(book, "{\n   \"cell_type\": \"code\"")], "", 0},
		"one line":     {`{"cells":[],"nbformat":4,"nbformat_minor":4}`, Edit{Mode: Insert, Source: "x", ID: "n"}, "[]", `[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["x"]}]`, 0},
	} {
		got, at, err := Apply([]byte(c.text), c.edit)
		if err != nil || at != c.at {
			t.Errorf("%s: cell %d, %v", name, at, err)
		}
		if strings.Count(c.text, c.old) != 1 {
			t.Fatalf("%s: %q is not there once", name, c.old)
		}
		if diff := cmp.Diff(strings.Replace(c.text, c.old, c.new, 1), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "no notebook", "[]": "no notebook", `{"nbformat":4}`: "no cells", `{"nbformat":3,"worksheets":[]}`: "version 3", `{"nbformat":4,"cells":{}}`: "no list",
		`{"nbformat":4,"cells":[3]}`: "object was expected", `{"nbformat":4,"cells":[]}`: "no cell",
	} {
		if _, _, err := Apply([]byte(text), Edit{Mode: Delete, Cell: "cell-0"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, e := range []Edit{{Mode: Replace}, {Mode: Delete, Cell: "cell-2"}, {Mode: Replace, Cell: "cell--1"}} {
		if _, _, err := Apply([]byte(book), e); err == nil {
			t.Errorf("%+v was applied", e)
		}
	}
}

// Whatever is edited, a notebook stays valid JSON, and deleting what was inserted gives
// the same cells.
func FuzzApply(f *testing.F) {
	f.Add(book, "cell-0", "x\n")
	f.Add(`{"cells":[],"nbformat":4}`, "", "")
	f.Fuzz(func(t *testing.T, text, cell, source string) {
		got, at, err := Apply([]byte(text), Edit{Mode: Insert, Cell: cell, Source: source, ID: "new-1"})
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q", text, got)
		}
		nb, err := read(got)
		if err != nil || at >= len(nb.cells) {
			t.Fatalf("%d of %q: %v", at, got, err)
		}
	})
}

func FuzzCells(f *testing.F) {
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":["a"],"outputs":[{"data":{"image/png":"aGk="}}]}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if cells, _, err := Cells(content); err != nil && cells != nil {
			t.Errorf("%d cells of what is no notebook", len(cells))
		}
	})
}
