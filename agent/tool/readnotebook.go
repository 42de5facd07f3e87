package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/notebook"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/picture"
)

// maxCellPictures limits the pictures of a notebook that a model is shown.
const maxCellPictures = 10

// cells shows a notebook as its cells with their outputs. It reports false for another
// file, and for a notebook that cannot be read so: its text is shown like any other.
func (r *read) cells(ctx context.Context, path string) (agent.Result, bool) {
	if !strings.EqualFold(filepath.Ext(path), ".ipynb") {
		return agent.Result{}, false
	}
	content, err := env.ReadText(ctx, r.env, path)
	if err != nil {
		return agent.Result{}, false
	}
	cells, language, err := notebook.Cells(content.UTF8)
	if err != nil {
		return agent.Result{}, false
	}
	r.seen.saw(absolute(r.env, path), content.UTF8)
	result := agent.Result{Details: &agent.Details{Listing: &agent.Listing{Count: len(cells), Unit: "cells"}}}
	var b strings.Builder
	fmt.Fprintf(&b, "[A notebook of %s%s. NotebookEdit changes a cell; an offset shows the file's own lines.]\n", count(len(cells), "cell"), in(language))
	for i, c := range cells {
		fmt.Fprintf(&b, "\n[%s]\n%s\n", heading(i, c), c.Source)
		for _, out := range c.Outputs {
			switch kind := picture.Type(out.Data); {
			case kind != "" && len(result.Media) < maxCellPictures:
				name := fmt.Sprintf("cell-%d", i)
				result.Media = append(result.Media, llm.Media{MIME: kind, Name: name, Data: out.Data})
				fmt.Fprintf(&b, "[output: a picture, shown as %s]\n", name)
			case out.MIME != "":
				fmt.Fprintf(&b, "[output: %s of %d bytes, not shown]\n", out.MIME, len(out.Data))
			case out.IsError:
				fmt.Fprintf(&b, "[output: it failed]\n%s\n", out.Text)
			default:
				fmt.Fprintf(&b, "[output]\n%s\n", strings.TrimSuffix(out.Text, "\n"))
			}
		}
	}
	result.Output = b.String()
	return result, true
}

func in(language string) string {
	if language == "" {
		return ""
	}
	return " in " + language
}

// heading names a cell as NotebookEdit takes it.
func heading(at int, c notebook.Cell) string {
	name := fmt.Sprintf("cell-%d", at)
	if c.ID != "" {
		name = fmt.Sprintf("cell-%d, id %s", at, c.ID)
	}
	if c.Run > 0 {
		return fmt.Sprintf("%s, %s, run %d", name, c.Type, c.Run)
	}
	return name + ", " + c.Type
}
