package ask_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/ask"
	"github.com/google/go-cmp/cmp"
)

type object = map[string]any

func question(text string, labels ...string) object {
	options := make([]any, 0, len(labels))
	for _, label := range labels {
		options = append(options, object{"label": label, "description": "d"})
	}
	return object{"question": text, "header": "h", "options": options}
}

func questions(all ...any) object { return object{"questions": all} }

// OAS-307: what no person could answer is refused before anybody is asked, with a phrase
// that says what to do.
func TestQuestionsAreChecked(t *testing.T) {
	t.Parallel()
	five := questions(question("1", "a", "b"), question("2", "a", "b"), question("3", "a", "b"), question("4", "a", "b"), question("5", "a", "b"))
	with := func(member string, value any) object {
		q := question("Which?", "a", "b")
		q["options"].([]any)[0].(object)[member] = value
		return questions(q)
	}
	for name, c := range map[string]struct {
		in   object
		want string // empty: it is fine
	}{
		"one":                      {questions(question("Which?", "a", "b")), ""},
		"four options":             {questions(question("Which?", "a", "b", "c", "d")), ""},
		"other scripts":            {questions(question("用哪个数据库？", "一个文件", "多个文件")), ""},
		"a preview of lines":       {with("preview", "a\n\tb\n"), ""},
		"a text only":              {questions(object{"question": "Which name?", "open": true}), ""},
		"none":                     {questions(), "there is no question"},
		"five":                     {five, "5 questions"},
		"no options":               {questions(question("Which?")), "question 1: it has no options"},
		"one option":               {questions(question("Which?", "a")), "no choice"},
		"five options":             {questions(question("Which?", "a", "b", "c", "d", "e")), "5 options"},
		"duplicate labels":         {questions(question("Which?", "SQLite", "sqlite ")), `the label "sqlite"`},
		"a label of spaces":        {questions(question("Which?", "a", "  ")), "option 2: the label is empty"},
		"a huge label":             {questions(question("Which?", "a", strings.Repeat("b", 10_000))), "10000 characters"},
		"a huge description":       {with("description", strings.Repeat("b", 10_000)), "the description has 10000"},
		"a huge preview":           {with("preview", strings.Repeat("界", 10_000)), "the preview has 10000"},
		"a huge question":          {questions(question(strings.Repeat("a", 10_000), "a", "b")), "the question has 10000"},
		"an empty question":        {questions(question(" ", "a", "b")), "the question is empty"},
		"the same question twice":  {questions(question("Which?", "a", "b"), question("which? ", "c", "d")), "question 2 is asked twice"},
		"an escape in a label":     {questions(question("Which?", "a", "b\x1b[2J")), "U+001B"},
		"a line end in a label":    {questions(question("Which?", "a", "b\nc")), "U+000A"},
		"a null in a preview":      {with("preview", "a\x00b"), "U+0000"},
		"a bell in a header":       {questions(object{"question": "Which?", "header": "\a", "options": question("", "a", "b")["options"]}), "U+0007"},
		"invalid text in a label":  {questions(question("Which?", "a", "\ufffd")), "not valid text"},
		"options and a text only":  {questions(object{"question": "Which?", "open": true, "options": question("", "a", "b")["options"]}), "asks for a text only"},
		"an option without a name": {questions(object{"question": "Which?", "options": []any{object{"description": "x"}, object{"label": "b"}}}), "the label is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := json.Marshal(c.in)
			if err != nil {
				t.Fatal(err)
			}
			err = ask.Tool().(agent.Validator).Validate(raw)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// K-04, K-43: what models of any vendor write is the same question.
func TestFormsOfQuestions(t *testing.T) {
	t.Parallel()
	plain := ask.Question{Question: "Which?", Options: []ask.Option{{Label: "a"}, {Label: "b"}}}
	several, open, yesno := plain, ask.Question{Question: "Which?", Open: true}, ask.Question{Question: "Which?", Options: []ask.Option{{Label: "Yes"}, {Label: "No"}}}
	several.MultiSelect = true
	options := []any{"a", object{"label": "b"}}
	for name, c := range map[string]struct {
		call string
		in   object
		want ask.Question
	}{
		"Claude":            {"AskUserQuestion", questions(object{"question": "Which?", "options": options, "multiSelect": true}), several},
		"Claude, snake":     {"AskUserQuestion", questions(object{"question": "Which?", "options": options, "multi_select": true}), several},
		"Codex":             {"request_user_input", questions(object{"question": "Which?", "options": options}), plain},
		"Gemini, choice":    {"ask_user", questions(object{"question": "Which?", "options": options, "type": "choice"}), plain},
		"Gemini, text":      {"ask_user", questions(object{"question": "Which?", "type": "text", "placeholder": "a name"}), open},
		"Gemini, yes/no":    {"ask_user", questions(object{"question": "Which?", "type": "yesno"}), yesno},
		"Open Agent SDK":    {"AskUser", object{"question": "Which?", "options": options}, plain},
		"answers of a host": {"AskUserQuestion", object{"questions": []any{object{"question": "Which?", "options": options}}, "answers": object{"Which?": "a"}}, plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := json.Marshal(c.in)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Concat(slices.Collect(maps.Values(ask.Tool().Spec().Bindings))...)
			at := slices.IndexFunc(all, func(b agent.Binding) bool { return b.Name == c.call })
			if at < 0 {
				t.Fatalf("there is no binding %s", c.call)
			}
			own, err := all[at].Input(raw)
			if err != nil {
				t.Fatal(err)
			}
			var got ask.Input
			if err := json.Unmarshal(own, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(ask.Input{Questions: []ask.Question{c.want}}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What the person left out is said to be left out, and an answer that cannot be read is a
// failed call.
func TestAnswers(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(questions(question("First?", "a", "b"), question("Second?", "a", "b")))
	if err != nil {
		t.Fatal(err)
	}
	for reply, want := range map[string]string{
		`{"answers":[{"chosen":["a","b"]},{"text":" mine "}]}`: "The user answered.\n\nFirst?\n- a\n- b\n\nSecond?\n- in their own words: mine\n",
		`{"answers":[{"chosen":["a"]}]}`:                       "The user answered.\n\nFirst?\n- a\n\nSecond?\n- (no answer: decide yourself)\n",
		``:                                                     "The user answered.\n\nFirst?\n- (no answer: decide yourself)\n\nSecond?\n- (no answer: decide yourself)\n",
		`[`:                                                    "The user's answer cannot be read: unexpected end of JSON input.",
	} {
		got := ask.Tool().Run(t.Context(), agent.Invocation{Input: raw, Reply: reply})
		if got.Output != want || got.IsError != (reply == "[") {
			t.Errorf("%s: %q", reply, got.Output)
		}
	}
}
