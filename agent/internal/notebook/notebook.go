// Package notebook changes cells of Jupyter notebooks (nbformat 4) in their text: what is
// not changed stays as it is, byte for byte.
package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Mode is what is done with a cell.
type Mode string

// The modes.
const (
	Replace Mode = "replace"
	Insert  Mode = "insert"
	Delete  Mode = "delete"
)

// Edit is a change of one cell.
type Edit struct {
	Mode Mode
	// Cell is the id of the cell, or "cell-N" for the N-th from 0. An insertion stands
	// after it; empty means at the beginning.
	Cell   string
	Source string
	// Type is code, markdown or raw; empty keeps the type of a cell that is replaced.
	Type string
	// ID is that of a new cell, for notebooks whose cells have ids.
	ID string
}

// maxCells limits the cells of a notebook.
const maxCells = 20_000

// span is a part of the text.
type span struct{ from, to int }

type cell struct {
	span
	source span // of its value
	ID     string
	Type   string
	hasID  bool
}

type notebook struct {
	text  []byte
	cells []cell
	list  span // inside of the brackets
	minor int
}

// Apply returns the text of a notebook after an edit, and the number of the cell, from 0.
// The error is a phrase for a model.
func Apply(text []byte, e Edit) (changed []byte, at int, err error) {
	nb, err := read(text)
	if err != nil {
		return nil, 0, err
	}
	at = -1
	if e.Cell != "" {
		if at = nb.find(e.Cell); at < 0 {
			return nil, 0, fmt.Errorf("there is no cell %q among its %d cells", e.Cell, len(nb.cells))
		}
	}
	switch {
	case e.Mode == Insert:
		return nb.insert(at+1, e), at + 1, nil
	case at < 0:
		return nil, 0, errors.New("the cell to change is not named: give its id, or cell-N for the N-th from 0")
	case e.Mode == Delete:
		return nb.remove(at), at, nil
	case e.Type != "" && e.Type != nb.cells[at].Type:
		e.ID = nb.cells[at].ID
		return splice(text, nb.cells[at].span, nb.written(e, nb.cells[at].hasID)), at, nil
	case nb.cells[at].source.to == 0:
		return nil, 0, errors.New("the cell has no source")
	}
	return splice(text, nb.cells[at].source, nb.indented(sourceOf(e.Source), 3)), at, nil
}

func splice(text []byte, at span, with []byte) []byte {
	out := make([]byte, 0, len(text)+len(with))
	return append(append(append(out, text[:at.from]...), with...), text[at.to:]...)
}

// read finds the cells of a notebook.
func read(text []byte) (nb notebook, err error) {
	var head struct {
		Format int `json:"nbformat"`
		Minor  int `json:"nbformat_minor"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nb, fmt.Errorf("it is no notebook: %w", err)
	}
	if head.Format != 4 {
		return nb, fmt.Errorf("it is a notebook of version %d; only version 4 can be changed: convert it with jupyter nbconvert", head.Format)
	}
	nb = notebook{text: text, minor: head.Minor, list: span{-1, -1}}
	err = members(text, 0, func(name string, value span) error {
		if name != "cells" {
			return nil
		}
		nb.list = value
		return elements(text, value, func(each span) error {
			if len(nb.cells) == maxCells {
				return fmt.Errorf("it has more than %d cells", maxCells)
			}
			c := cell{span: each}
			err := members(text[:each.to], each.from, func(name string, value span) error {
				raw := text[value.from:value.to]
				switch name {
				case "source":
					c.source = value
				case "id":
					c.hasID = json.Unmarshal(raw, &c.ID) == nil
				case "cell_type":
					_ = json.Unmarshal(raw, &c.Type)
				}
				return nil
			})
			nb.cells = append(nb.cells, c)
			return err
		})
	})
	if err == nil && nb.list.from < 0 {
		err = errors.New("it is no notebook: it has no cells")
	}
	return nb, err
}

// members calls visit for each member of the object that begins at a place.
func members(text []byte, at int, visit func(name string, value span) error) error {
	d := json.NewDecoder(bytes.NewReader(text[at:]))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it is no notebook: an object was expected")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		to := at + int(d.InputOffset())
		if err := visit(fmt.Sprint(name), span{to - len(raw), to}); err != nil {
			return err
		}
	}
	return nil
}

// elements calls visit for each element of a list.
func elements(text []byte, list span, visit func(span) error) error {
	d := json.NewDecoder(bytes.NewReader(text[list.from:list.to]))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("it is no notebook: its cells are no list")
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		to := list.from + int(d.InputOffset())
		if err := visit(span{to - len(raw), to}); err != nil {
			return err
		}
	}
	return nil
}

// find returns the number of a cell; -1 if there is none.
func (nb notebook) find(name string) int {
	for i, c := range nb.cells {
		if c.hasID && c.ID == name {
			return i
		}
	}
	digits, _ := strings.CutPrefix(name, "cell-")
	if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < len(nb.cells) {
		return n
	}
	return -1
}

func (nb notebook) insert(at int, e Edit) []byte {
	ids := nb.minor >= 5
	for _, c := range nb.cells {
		ids = ids || c.hasID
	}
	text := nb.written(e, ids)
	switch {
	case len(nb.cells) == 0 && nb.indent() == "":
		return splice(nb.text, nb.list, append(append([]byte("["), text...), ']'))
	case len(nb.cells) == 0:
		return splice(nb.text, nb.list, []byte("[\n"+nb.pad(2)+string(text)+"\n"+nb.pad(1)+"]"))
	case at == len(nb.cells):
		to := nb.cells[at-1].to
		return splice(nb.text, span{to, to}, append([]byte(nb.between()), text...))
	}
	from := nb.cells[at].from
	return splice(nb.text, span{from, from}, append(text, nb.between()...))
}

func (nb notebook) remove(at int) []byte {
	gone := nb.cells[at].span
	switch {
	case at+1 < len(nb.cells):
		gone.to = nb.cells[at+1].from
	case at > 0:
		gone.from = nb.cells[at-1].to
	default:
		return splice(nb.text, nb.list, []byte("[]"))
	}
	return splice(nb.text, gone, nil)
}

// between stands between two cells.
func (nb notebook) between() string {
	if len(nb.cells) > 1 {
		return string(nb.text[nb.cells[0].to:nb.cells[1].from])
	}
	if nb.indent() == "" {
		return ","
	}
	return ",\n" + nb.pad(2)
}

// indent is the space of one level; empty if the notebook is one line.
func (nb notebook) indent() string {
	_, rest, ok := bytes.Cut(nb.text, []byte("\n"))
	if !ok {
		return ""
	}
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))])
}

func (nb notebook) pad(level int) string { return strings.Repeat(nb.indent(), level) }

// indented writes a value as it stands at a level of the notebook.
func (nb notebook) indented(v any, level int) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if indent := nb.indent(); indent != "" {
		enc.SetIndent(strings.Repeat(indent, level), indent)
	}
	_ = enc.Encode(v) // texts and lists of them always encode
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// written writes a new cell, its members in the order of their names.
func (nb notebook) written(e Edit, withID bool) []byte {
	c := map[string]any{"cell_type": e.Type, "metadata": map[string]any{}, "source": sourceOf(e.Source)}
	if e.Type == "" {
		c["cell_type"], e.Type = "code", "code"
	}
	if e.Type == "code" {
		c["execution_count"], c["outputs"] = nil, []any{}
	}
	if withID {
		c["id"] = e.ID
	}
	return nb.indented(c, 2)
}

// sourceOf returns a source as a list of lines with their ends, as notebooks have it.
func sourceOf(text string) []string {
	lines := []string{}
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}
