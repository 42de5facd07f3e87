package output

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/internal/regular"
)

// maxSchema limits the text of a schema.
const maxSchema = 1 << 20

// Schema is the form in which an answer is asked for.
type Schema struct {
	text     string
	resolved *jsonschema.Resolved
	said     string // the text of the newest answer
}

// ReadSchema reads a JSON schema from a text that begins with a brace, else from the file of
// that name. It returns nil for an empty text.
func ReadSchema(given string) (*Schema, error) {
	text := strings.TrimSpace(given)
	switch {
	case text == "":
		return nil, nil
	case !strings.HasPrefix(text, "{"):
		raw, err := regular.Read(text, maxSchema)
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		text = string(raw)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return &Schema{text: text, resolved: resolved}, nil
}

// Asking returns a prompt that asks for the form, too.
func (s *Schema) Asking(prompt string) string {
	return prompt + "\n\nWhen you are done, answer with one JSON value and nothing else, no code fence either. It must satisfy this JSON Schema:\n" + s.text
}

// Again returns the prompt that asks once more, after an answer that does not fit.
func (s *Schema) Again(problem error) string {
	return s.Asking(fmt.Sprintf("Your last message is not in the form that was asked for: %v. Give the same answer in that form.", problem))
}

// Observe takes an event of the run's own session.
func (s *Schema) Observe(ev agent.Event) {
	if said, ok := ev.Data.(agent.TextEnd); ok {
		if text := said.Message.Text(); text != "" {
			s.said = text
		}
	}
}

// Value returns the newest answer, if it fits.
func (s *Schema) Value() (json.RawMessage, error) {
	text := unfenced(s.said)
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, fmt.Errorf("it does not satisfy the schema: %w", err)
	}
	var out json.RawMessage
	return out, json.Unmarshal([]byte(text), &out)
}

// unfenced removes the code fence that models tend to put around JSON.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") {
		return text
	}
	_, text, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "```"))
}
