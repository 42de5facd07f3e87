package agent

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/coerce"
	"atelier.dev/atelier/agent/llm"
)

// This file reads calls that a model wrote into its text, in the form that its own
// training knows, because the server in between did not (K-49).

var (
	// wrappers surround or separate calls and mean nothing by themselves.
	wrappers = lazily(`^(?:\s+|</?(?:\w+:)?(?:tool_?calls?|function_?calls?|tools|function|invoke)>|\[/?TOOL_CALLS\]|<\|python_tag\|>|<\|eom_id\|>|<\|im_end\|>|` +
		`</?\|?/?tool_?calls?\|>|<\|tool_calls?(?:_section)?_(?:begin|end)\|>|<｜tool▁(?:calls?▁begin|calls?▁end|outputs?▁begin)｜>|<｜end▁of▁sentence｜>|<\|start\|>assistant|<\|call\|>)`)
	functionTag  = lazily(`^<function=["']?([\w.:-]+)["']?>`)
	invokeTag    = lazily(`^<(?:\w+:)?invoke\s+name=["']?([\w.:-]+)["']?\s*>`)
	parameterTag = lazily(`(?s)^\s*<(?:\w+:)?parameter(?:=|\s+name=)["']?([\w.-]+)["']?[^>]*>(.*?)</(?:\w+:)?parameter>`)
	argumentTags = lazily(`(?s)^\s*<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	glmName      = lazily(`^([\w.:-]+)\s*<arg_key>`)
	// namedFirst is a name before arguments that are JSON.
	namedFirst = lazily(`^(?:function<｜tool▁sep｜>)?([\w.:-]+)\s*(?:<｜tool▁sep｜>|\s*\x60\x60\x60json|<\|tool_call_argument_begin\|>|\[CALL_ID\]\w+\[ARGS\]|\[ARGS\])\s*(?:\x60\x60\x60json)?`)
	harmony    = lazily(`^<\|channel\|>\w+ to=([\w.:-]+)\s*(?:<\|constrain\|>\w+)?\s*<\|message\|>`)
	// callMarkup begins a call; its last group is a name, if that is near.
	callMarkup = lazily(`(?:<(?:\w+:)?tool_?calls?>|<\|?(?:tool_call|python_tag)[\w|]*>|\[TOOL_CALLS\]|<function=|<(?:\w+:)?invoke\s+name=|<｜tool▁call|<\|channel\|>\w+ to=)(?s:.{0,200})`)
	codeBlocks = lazily("(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)|`[^`\n]*`")
	aWord      = lazily(`[\w.:-]+`)
)

// maxWritten limits the length of a text that is read for calls.
const maxWritten = 1 << 20

// writtenCalls returns the calls of offered tools that a text consists of; none if
// there is anything else in it, or anything that is not certain.
func (s *Toolset) writtenCalls(text string) []llm.ToolCall {
	if len(text) > maxWritten {
		return nil
	}
	var calls []llm.ToolCall
	for rest := text; ; {
		for at := wrappers().FindStringIndex(rest); at != nil; at = wrappers().FindStringIndex(rest) {
			rest = rest[at[1]:]
		}
		if rest == "" {
			return calls
		}
		found, after, ok := writtenCall(rest)
		if !ok || len(calls)+len(found) > maxCalls {
			return nil
		}
		for _, call := range found {
			b, offered := s.offered(call.Name)
			if !offered {
				return nil
			}
			call.Name = b.binding.Name
			calls = append(calls, call)
		}
		rest = after
	}
}

// offered returns the tool that a model means by a name, if it is shown under any.
func (s *Toolset) offered(name string) (bound, bool) {
	b, known := s.get(name)
	return b, known && slices.ContainsFunc(s.shown, func(spec llm.ToolSpec) bool { return s.byName[spec.Name].spec.Name == b.spec.Name })
}

// writtenCall reads what a text begins with.
func writtenCall(text string) (calls []llm.ToolCall, rest string, ok bool) {
	if text[0] == '{' || text[0] == '[' {
		value, rest, ok := firstJSON(text)
		if !ok {
			return nil, "", false
		}
		calls, ok = jsonCalls(value)
		return calls, rest, ok
	}
	for _, form := range []struct{ name, member *regexp.Regexp }{
		{functionTag(), parameterTag()}, {invokeTag(), parameterTag()}, {glmName(), argumentTags()},
	} {
		m := form.name.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		name, rest := text[m[2]:m[3]], text[m[1]:]
		if form.member == argumentTags() {
			rest = text[m[3]:]
		}
		if coerce.Start(json.RawMessage(rest)) == '{' {
			return oneCall(name, rest)
		}
		members, rest := writtenMembers(form.member, rest)
		if trimmed := strings.TrimSpace(rest); trimmed != "" && !strings.HasPrefix(trimmed, "<") {
			return nil, "", false
		}
		return []llm.ToolCall{{Name: name, Arguments: members}}, rest, true
	}
	for _, form := range []*regexp.Regexp{namedFirst(), harmony()} {
		if m := form.FindStringSubmatchIndex(text); m != nil {
			calls, rest, ok = oneCall(text[m[2]:m[3]], text[m[1]:])
			rest = strings.TrimPrefix(strings.TrimLeft(rest, " \n"), "```")
			return calls, rest, ok
		}
	}
	return nil, "", false
}

// oneCall reads the arguments of a call as JSON.
func oneCall(name, text string) ([]llm.ToolCall, string, bool) {
	args, rest, ok := firstJSON(text)
	return []llm.ToolCall{{Name: name, Arguments: args}}, rest, ok && coerce.Start(args) == '{'
}

// writtenMembers reads members, each in tags of its own.
func writtenMembers(member *regexp.Regexp, text string) (args json.RawMessage, rest string) {
	members := map[string]string{}
	for {
		m := member.FindStringSubmatch(text)
		if m == nil {
			break
		}
		members[m[1]] = strings.TrimSuffix(strings.TrimPrefix(m[2], "\n"), "\n")
		text = text[len(m[0]):]
	}
	args, _ = json.Marshal(members) // strings always encode
	return args, text
}

// firstJSON returns the JSON value that a text begins with, and what follows it.
func firstJSON(text string) (value json.RawMessage, rest string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&value) != nil {
		return nil, "", false
	}
	return value, text[d.InputOffset():], true
}

// jsonCalls reads calls that are written as an object, or as a list of them.
func jsonCalls(value json.RawMessage) ([]llm.ToolCall, bool) {
	var list []json.RawMessage
	if coerce.Start(value) == '[' {
		if json.Unmarshal(value, &list) != nil || len(list) == 0 {
			return nil, false
		}
		var calls []llm.ToolCall
		for _, item := range list {
			more, ok := jsonCalls(item)
			if !ok || coerce.Start(item) != '{' || len(calls)+len(more) > maxCalls {
				return nil, false
			}
			calls = append(calls, more...)
		}
		return calls, true
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil {
		return nil, false
	}
	if inner, nested := object["function"]; nested && coerce.Start(inner) == '{' {
		return jsonCalls(inner)
	}
	if inner, nested := object["tool_calls"]; nested && len(object) == 1 && coerce.Start(inner) == '[' {
		return jsonCalls(inner)
	}
	var call llm.ToolCall
	for name, member := range object {
		switch name {
		case "name", "tool", "tool_name", "function":
			if call.Name != "" || json.Unmarshal(member, &call.Name) != nil {
				return nil, false
			}
		case "arguments", "parameters", "args", "input", "tool_input", "params":
			if call.Arguments != nil {
				return nil, false
			}
			if call.Arguments = member; coerce.Start(member) == '"' {
				var spelled string
				_ = json.Unmarshal(member, &spelled) // it has been read as JSON
				call.Arguments = json.RawMessage(spelled)
			}
		case "id", "type":
		default:
			return nil, false
		}
	}
	return []llm.ToolCall{call}, call.Name != "" && coerce.Start(call.Arguments) == '{' && json.Valid(call.Arguments)
}

// hasWrittenCall reports whether a text has the beginning of a call of an offered
// tool, outside of code.
func (s *Toolset) hasWrittenCall(text string) bool {
	if len(text) > maxWritten || !strings.ContainsAny(text, "<[") {
		return false
	}
	prose := codeBlocks().ReplaceAllString(text, " ")
	if strings.HasPrefix(strings.TrimSpace(text), "<｜tool") { // its arguments are a block
		prose = text
	}
	for _, begun := range callMarkup().FindAllString(prose, maxCalls) {
		if slices.ContainsFunc(aWord().FindAllString(begun, -1), func(word string) bool {
			_, offered := s.offered(word)
			return offered && len(word) > 1
		}) {
			return true
		}
	}
	return false
}

// readWritten turns an answer that is nothing but calls in text into one that makes
// them, and names tools as they were shown. It returns the tools that were called
// in text.
func (s *Toolset) readWritten(answer *llm.Answer) (called []string) {
	m := &answer.Message
	for i, p := range m.Parts {
		if p.Call == nil || s.byName[p.Call.Name].tool != nil {
			continue
		}
		if b, known := s.get(p.Call.Name); known {
			m.Parts = slices.Clone(m.Parts)
			call := *p.Call
			call.Name = b.binding.Name
			m.Parts[i] = llm.Part{Kind: llm.PartToolCall, Call: &call}
		}
	}
	if len(m.Calls()) > 0 || answer.Finish.Reason == llm.FinishLength || answer.Finish.Reason == llm.FinishPause {
		return nil
	}
	calls := s.writtenCalls(m.Text())
	if len(calls) == 0 {
		return nil
	}
	parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p llm.Part) bool { return p.Kind == llm.PartText })
	for _, call := range calls {
		call.Arguments = bytes.Clone(call.Arguments)
		parts = append(parts, llm.Part{Kind: llm.PartToolCall, Call: &call})
		if !slices.Contains(called, call.Name) {
			called = append(called, call.Name)
		}
	}
	m.Parts, m.Origin = parts, nil // its provider did not send it so
	return called
}

// remindOfCalls tells a model once in a turn that a call in its text runs nothing.
func (t *turn) remindOfCalls(m llm.Message) bool {
	if t.reminded || !t.session.tools().hasWrittenCall(m.Text()) {
		return false
	}
	t.reminded = true
	t.emit(Warn(WarnCallInText))
	t.emit(SteeringInjected{ByLoop: true, Text: "Your answer contains a tool call as text, and so nothing was run. Make the call through the tool interface. " +
		"If it was only an example, say that you are done."})
	return true
}
