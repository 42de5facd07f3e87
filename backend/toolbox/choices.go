package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/config"
	"atelier.dev/atelier/backend"
)

// Choices are the user's preferences that a session's agent may read and, if the user allows
// it, change: nothing that decides what agents may do or reach, and no program that is run.
type Choices struct {
	Get    func(context.Context, backend.Empty) (backend.Preferences, error)
	Change func(_ context.Context, before, after backend.Preferences) (backend.Preferences, error)
}

// offered are those preferences, by their names in [backend.Preferences].
var offered = []config.Setting{
	{Key: "theme", About: "how the page looks; empty is the system's choice", Choices: []string{"", "light", "dark"}},
	{Key: "high_contrast", About: "text and lines stand out more"},
	{Key: "language", About: "the language of the page; empty is the system's", Choices: []string{"", "en", "zh-CN"}},
	{Key: "zoom", About: "the scale of the window's page in percent; 0 means 100"},
	{Key: "plain_titles", About: "sessions are named by their first prompt, without asking a model"},
	{Key: "suggest_prompts", About: "a model is asked for the user's likely next message, which costs a little each time"},
	{Key: "long_cache", About: "the input of Anthropic's models stays in the cache for an hour, and costs more to write"},
	{Key: "cut_results", About: "long results of tools are cut, and no model is asked to shorten them"},
	{Key: "compact", About: "when long conversations are compacted; empty is in time", Choices: []string{"", "share", "end", "never"}},
	{Key: "patience", About: "the minutes for which a model's server may be silent; 0 leaves it to the model"},
	{Key: "command_timeout", About: "the time limit of commands in seconds; 0 leaves it to the model"},
	{Key: "no_language_servers", About: "language servers do not start"},
}

// List implements [config.Settings].
func (c Choices) List(ctx context.Context) ([]config.Setting, error) {
	p, err := c.Get(ctx, backend.Empty{})
	if err != nil {
		return nil, err
	}
	known, err := membersOf(p)
	if err != nil {
		return nil, err
	}
	zero := map[string]string{"zoom": "0", "patience": "0", "command_timeout": "0"}
	all := slices.Clone(offered)
	for i, s := range all {
		switch {
		case known[s.Key] != nil:
			all[i].Value = known[s.Key]
		case s.Choices != nil:
			all[i].Value = json.RawMessage(`""`)
		case zero[s.Key] != "":
			all[i].Value = json.RawMessage(zero[s.Key])
		default:
			all[i].Value = json.RawMessage("false")
		}
	}
	return all, nil
}

// Set implements [config.Settings].
func (c Choices) Set(ctx context.Context, key string, value json.RawMessage) error {
	if !slices.ContainsFunc(offered, func(s config.Setting) bool { return s.Key == key }) {
		return errors.New("it is the user's alone")
	}
	before, err := c.Get(ctx, backend.Empty{})
	if err != nil {
		return err
	}
	members, err := membersOf(before)
	if err != nil {
		return err
	}
	members[key] = value
	text, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("the value cannot be read: %w", err)
	}
	var after backend.Preferences
	if err := json.Unmarshal(text, &after); err != nil {
		return errors.New("the value is not of the kind that the setting has")
	}
	_, err = c.Change(ctx, before, after)
	return err
}

func membersOf(p backend.Preferences) (members map[string]json.RawMessage, err error) {
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	return members, err
}
