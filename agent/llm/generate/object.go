package generate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atelier.dev/atelier/agent/llm"
)

// Object asks for a value of type T, a struct whose schema is sent in the
// provider's own form (LLM-34). An answer that is not such a value is an
// [*llm.Error] of class bad_object and is not requested again; the result has
// its text. An endpoint without schemas is asked in words.
func Object[T any](ctx context.Context, m Model, c Call) (T, *Result, error) {
	var value T
	shape, err := shapeOf[T](&c)
	if err != nil {
		return value, &Result{}, err
	}
	result, err := Text(ctx, m, c)
	if unknown(err) {
		shape.inWords(&c)
		result, err = Text(ctx, m, c)
	}
	if err == nil {
		err = shape.read(result.Text(), &value)
	}
	return value, result, err
}

// ObjectStream is [Object], but yields the value as it grows, each time as far
// as it is known, and finally the complete value.
func ObjectStream[T any](ctx context.Context, m Model, c Call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		shape, err := shapeOf[T](&c)
		if err != nil {
			yield(none, err)
			return
		}
		var text strings.Builder
		grow := func(ev llm.Event) bool {
			switch ev.Type {
			case llm.EventStart: // of the next step's answer
				text.Reset()
				return true
			case llm.EventTextDelta:
				text.WriteString(ev.Delta)
			default:
				return true
			}
			var value T
			if json.Unmarshal([]byte(closed(text.String())), &value) != nil {
				return true
			}
			return yield(value, nil)
		}
		result, err := ask(ctx, m, c, grow)
		if unknown(err) {
			shape.inWords(&c)
			result, err = ask(ctx, m, c, grow)
		}
		var value T
		if err == nil {
			err = shape.read(result.Text(), &value)
		}
		if !errors.Is(err, errLeft) {
			yield(value, err)
		}
	}
}

// shape is the form of a value.
type shape struct {
	provider string
	schema   []byte
	resolved *jsonschema.Resolved
}

// shapeOf derives the form of T and asks for it.
func shapeOf[T any](c *Call) (*shape, error) {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("derive the schema of %T: %w", *new(T), err)
	}
	if schema.Type != "object" {
		return nil, fmt.Errorf("%T is not a struct: providers give objects only", *new(T))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve the schema of %T: %w", *new(T), err)
	}
	encoded, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("encode the schema of %T: %w", *new(T), err)
	}
	c.Request.Format = &llm.Format{Name: "answer", Schema: encoded}
	return &shape{c.Request.Provider, encoded, resolved}, nil
}

// unknown reports whether an endpoint refused a request because it has a
// schema.
func unknown(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && (e.Class == llm.ClassInvalid || e.Class == llm.ClassUnsupported)
}

// inWords asks for the value in the instructions.
func (s *shape) inWords(c *Call) {
	c.Request.Format = nil
	if c.Request.System != "" {
		c.Request.System += "\n\n"
	}
	c.Request.System += "Answer with one JSON object and nothing else, no code fence either. It must satisfy this JSON Schema:\n" + string(s.schema)
}

// read decodes an answer's text.
func (s *shape) read(text string, value any) error {
	object := []byte(unfenced(text))
	err := valid(s.resolved, object)
	if err == nil {
		err = json.Unmarshal(object, value)
	}
	if err != nil {
		return &llm.Error{
			Class: llm.ClassBadObject, Provider: s.provider, Cause: err,
			Message: fmt.Sprintf("the model's answer is not the JSON that was asked for: %v", err),
		}
	}
	return nil
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

// closed completes the start of a JSON value: it closes open parts and leaves
// out what cannot stand alone yet.
func closed(text string) string {
	var open []byte // the missing closing brackets, outermost first
	whole := 0      // how much of text is kept: what is open at its end stays open after it
	quoted, escaped := false, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			open = append(open, b+2) // } and ] are two further in ASCII
			whole = i + 1
		case (b == '}' || b == ']') && len(open) > 0:
			open = open[:len(open)-1]
			whole = i + 1
		case b == ',':
			whole = i // the text before a comma is complete
		}
	}
	return text[:whole] + reversed(open)
}

func reversed(b []byte) string {
	out := make([]byte, 0, len(b))
	for i := len(b) - 1; i >= 0; i-- {
		out = append(out, b[i])
	}
	return string(out)
}
