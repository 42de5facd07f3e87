package ask

import (
	"errors"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent/internal/plain"
)

// The limits of what is asked, the texts in characters. They are what a person can take
// in above a message field.
const (
	maxQuestions   = 4
	minOptions     = 2
	maxOptions     = 4
	maxQuestion    = 1_000
	maxHeader      = 40
	maxLabel       = 120
	maxDescription = 600
	maxPreview     = 6_000
)

// Validate says in a phrase for the model what is wrong with the questions.
func (in Input) Validate() error {
	switch n := len(in.Questions); {
	case n == 0:
		return errors.New("there is no question; ask one to four")
	case n > maxQuestions:
		return fmt.Errorf("there are %d questions, and a user is asked at most %d at once: ask the most important ones", n, maxQuestions)
	}
	seen := map[string]bool{}
	for i, q := range in.Questions {
		if err := q.validate(); err != nil {
			return fmt.Errorf("question %d: %w", i+1, err)
		}
		key := plain.Key(q.Question)
		if seen[key] {
			return fmt.Errorf("question %d is asked twice", i+1)
		}
		seen[key] = true
	}
	return nil
}

func (q Question) validate() error {
	if err := plain.Check("the question", q.Question, maxQuestion, true); err != nil {
		return err
	}
	if err := plain.Line("the header", q.Header, maxHeader, false); err != nil {
		return err
	}
	n := len(q.Options)
	switch {
	case q.Open && n > 0:
		return errors.New("it has options, and yet asks for a text only")
	case q.Open:
		return nil
	case n == 0:
		return errors.New("it has no options; give two to four")
	case n < minOptions:
		return errors.New("it has one option, which is no choice; give two to four")
	case n > maxOptions:
		return fmt.Errorf("it has %d options, more than %d: group them, or ask in two steps", n, maxOptions)
	}
	seen := map[string]bool{}
	for i, o := range q.Options {
		if err := o.validate(); err != nil {
			return fmt.Errorf("option %d: %w", i+1, err)
		}
		key := plain.Key(o.Label)
		if seen[key] {
			return fmt.Errorf("two options have the label %q", strings.TrimSpace(o.Label))
		}
		seen[key] = true
	}
	return nil
}

func (o Option) validate() error {
	if err := plain.Line("the label", o.Label, maxLabel, true); err != nil {
		return err
	}
	if err := plain.Check("the description", o.Description, maxDescription, false); err != nil {
		return err
	}
	return plain.Check("the preview", o.Preview, maxPreview, false)
}
