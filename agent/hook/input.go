package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// adapted returns what an agent's session fires instead: its start and its end
// are those of a subagent. ok is false if it fires nothing. A turn whose input was
// refused has begun for an agent, but not for a user.
func (a *Agent) adapted(data agent.HookInput) (instead agent.HookInput, ok bool) {
	if a == nil {
		stop, ends := data.(agent.StopInput)
		return data, !ends || stop.Reason != agent.EndRefused
	}
	switch d := data.(type) {
	case agent.SessionStartInput:
		return agent.SubagentStartInput{AgentID: a.ID, Parent: a.Parent, Task: a.Task}, true
	case agent.StopInput:
		return agent.SubagentStopInput{StopInput: d, AgentID: a.ID, Parent: a.Parent}, true
	case agent.SessionEndInput:
		return nil, false
	}
	return data, true
}

// point returns the point that an agent's session fires instead of another one;
// false if it fires none.
func (a *Agent) point(p agent.HookPoint) (instead agent.HookPoint, ok bool) {
	switch {
	case a == nil:
	case p == agent.HookSessionStart:
		return agent.HookSubagentStart, true
	case p == agent.HookStop:
		return agent.HookSubagentStop, true
	case p == agent.HookSessionEnd:
		return "", false
	}
	return p, true
}

// Accessing tells what a call of a tool would touch.
type Accessing func(tool string, input json.RawMessage) agent.Access

// readInput reads the input of a point as a hook would be told it.
func readInput(point agent.HookPoint, input json.RawMessage, access Accessing) (agent.HookInput, error) {
	for _, empty := range agent.HookInputs() {
		if empty.Point() != point {
			continue
		}
		data := reflect.New(reflect.TypeOf(empty)).Elem()
		if err := json.Unmarshal(input, data.Addr().Interface()); err != nil {
			return nil, fmt.Errorf("read the input of %s: %w", EventName(point), err)
		}
		read := func() agent.HookInput { return data.Interface().(agent.HookInput) } // as empty is
		if aboutTool(point) && access != nil {
			tool := agent.HookCall{Data: read()}.Tool()
			data.FieldByName("Access").Set(reflect.ValueOf(access(tool.Tool, tool.Input)))
		}
		return read(), nil
	}
	return nil, fmt.Errorf("there is no event %q", point)
}

// fields are the members of an object, in order.
type fields []member

func (f *fields) add(name string, v any) {
	if !slices.ContainsFunc(*f, func(m member) bool { return m.name == name }) {
		*f = append(*f, member{name, value{raw: encode(v)}})
	}
}

func (f fields) get(name string) (json.RawMessage, bool) {
	for _, m := range f {
		if m.name == name {
			return m.raw, true
		}
	}
	return nil, false
}

func (f fields) encode() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.name))
		b.WriteByte(':')
		b.Write(m.raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// input returns what a hook reads: the members that all points share, those of
// the point, and all of them once more in the other spelling (COM-74).
func (o *Options) input(call agent.HookCall, v view) json.RawMessage {
	point := call.Point()
	var f fields
	f.add("session_id", call.Session)
	f.add("transcript_path", "")
	f.add("cwd", o.Folder)
	f.add("permission_mode", call.Mode)
	f.add("hook_event_name", EventName(point))
	if o.Agent != nil {
		f.add("agent_id", o.Agent.ID)
		f.add("agent_type", o.Agent.kind())
	}
	if v.tool != "" {
		f.add("tool_name", v.tool)
		f.add("tool_input", v.input)
	}
	members, _ := value{raw: encode(call.Data)}.members()
	for _, m := range members {
		f.add(m.name, m.raw)
	}
	if id, ok := f.get("tool_call_id"); ok {
		f.add("tool_use_id", id)
	}
	for _, m := range slices.Clone(f) {
		f.add(camel(m.name), m.raw)
	}
	f.add("event", point)
	if output, ok := f.get("tool_response"); ok {
		f.add("toolOutput", output)
	}
	return f.encode()
}

// camel returns the other spelling of a member's name.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		if i > 0 && word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// variables are what a hook finds in its environment (OAS-664). Python writes no
// compiled modules, since a hook that changes its own folder has to be trusted
// again.
func (o *Options) variables(about About, session string) []string {
	out := []string{projectVariables[0] + "=" + o.Folder, projectVariables[1] + "=" + o.Folder, "PYTHONDONTWRITEBYTECODE=1"}
	add := func(prefix, event string) {
		out = append(out, prefix+"EVENT="+event, prefix+"TOOL_NAME="+about.Tool, prefix+"SESSION_ID="+session, prefix+"CWD="+o.Folder)
	}
	add("HOOK_", string(about.Point))
	add("COMATE_HOOK_", EventName(about.Point))
	return out
}

// projectVariables name the project's folder, also in the arguments and the
// address of a hook.
var projectVariables = []string{"CLAUDE_PROJECT_DIR", "AGENT_PROJECT_DIR"}

// placed replaces the placeholders for the project's folder.
func (o *Options) placed(text string) string {
	for _, name := range projectVariables {
		text = strings.ReplaceAll(text, "${"+name+"}", o.Folder)
	}
	return text
}
