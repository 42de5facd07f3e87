package notebook

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/internal/text"
)

// Cell is a cell as it is read.
type Cell struct {
	ID, Type, Source string
	// Run is the number of its last run; 0 means that it has not run.
	Run     int
	Outputs []Output
}

// Output is what a run of a cell left: text, or a picture.
type Output struct {
	Text string
	// MIME is the type of a picture, and Data its bytes; both are empty for text.
	MIME string
	Data []byte
	// IsError says that the run failed.
	IsError bool
}

// The limits of what is read of one cell's outputs, in bytes and in number.
const (
	maxOutput  = 20_000
	maxOutputs = 50
)

// lines is a text that is written as one, or as a list of its lines.
type lines string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *lines) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*l = lines(strings.Join(list, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(l))
}

type rawOutput struct {
	Type      string          `json:"output_type"`
	Text      lines           `json:"text"`
	Data      json.RawMessage `json:"data"`
	Name      string          `json:"ename"`
	Value     string          `json:"evalue"`
	Traceback []string        `json:"traceback"`
}

// Cells returns the cells of a notebook and the name of its language, which is empty if
// the notebook does not say it. The error is a phrase for a model.
func Cells(content []byte) (cells []Cell, language string, err error) {
	var nb struct {
		Format   int `json:"nbformat"`
		Metadata struct {
			Language struct {
				Name string `json:"name"`
			} `json:"language_info"`
		} `json:"metadata"`
		Cells []struct {
			ID      string      `json:"id"`
			Type    string      `json:"cell_type"`
			Source  lines       `json:"source"`
			Run     *int        `json:"execution_count"`
			Outputs []rawOutput `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(content, &nb); err != nil {
		return nil, "", fmt.Errorf("it is no notebook: %w", err)
	}
	if nb.Format != 4 {
		return nil, "", fmt.Errorf("it is a notebook of version %d, not 4", nb.Format)
	}
	if len(nb.Cells) > maxCells {
		return nil, "", fmt.Errorf("it has more than %d cells", maxCells)
	}
	for _, raw := range nb.Cells {
		c := Cell{ID: raw.ID, Type: raw.Type, Source: string(raw.Source)}
		if raw.Run != nil {
			c.Run = *raw.Run
		}
		for _, out := range raw.Outputs[:min(len(raw.Outputs), maxOutputs)] {
			c.Outputs = append(c.Outputs, out.read())
		}
		cells = append(cells, c)
	}
	return cells, nb.Metadata.Language.Name, nil
}

// colours are the escape sequences with which tracebacks are coloured.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// pictures are the types of outputs that are shown as pictures, the best first.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func (o rawOutput) read() Output {
	if o.Type == "error" {
		trace := colours.ReplaceAllString(strings.Join(o.Traceback, "\n"), "")
		if trace == "" {
			trace = o.Name + ": " + o.Value
		}
		return Output{Text: text.Clip(trace, maxOutput), IsError: true}
	}
	var data map[string]json.RawMessage
	_ = json.Unmarshal(o.Data, &data) // what is no object has nothing that can be shown
	for _, mime := range pictures {
		var encoded lines
		if json.Unmarshal(data[mime], &encoded) != nil {
			continue
		}
		quoted, _ := json.Marshal(strings.Join(strings.Fields(string(encoded)), "")) // a text always has a JSON form
		var picture []byte
		if json.Unmarshal(quoted, &picture) == nil && len(picture) > 0 {
			return Output{MIME: mime, Data: picture}
		}
	}
	var plain lines
	if json.Unmarshal(data["text/plain"], &plain) == nil {
		return Output{Text: text.Clip(string(plain), maxOutput)}
	}
	if o.Text != "" || len(data) == 0 {
		return Output{Text: text.Clip(colours.ReplaceAllString(string(o.Text), ""), maxOutput)}
	}
	kinds := []string{}
	for mime := range data {
		kinds = append(kinds, mime)
	}
	slices.Sort(kinds)
	return Output{Text: text.Clip("["+strings.Join(kinds, ", ")+", not shown]", maxOutput)}
}
