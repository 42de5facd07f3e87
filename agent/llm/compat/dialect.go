package compat

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"

	"atelier.dev/atelier/agent/llm"
)

// Dialect says where an endpoint departs from the common form of Chat
// Completions. The zero value is that form. What can be seen in an answer, such
// as the field that reasoning came in, needs no flag: it goes back as it came.
type Dialect struct {
	// CompletionCap caps the answer by max_completion_tokens: OpenAI's
	// reasoning models refuse max_tokens, a few others deprecate it, and the
	// rest know nothing else.
	CompletionCap bool
	// EffortForm is how the wanted effort is said.
	EffortForm EffortForm
	// Efforts are those that the endpoint takes of a model that nothing is
	// known of; empty where they are not known either.
	Efforts []llm.Effort
	// NoStreamOptions leaves stream_options out: the endpoint reports its
	// counts unasked and refuses a field that it does not know.
	NoStreamOptions bool
	// WantsReasoning has each of the model's own messages carry
	// reasoning_content, if need be an empty one: without it the endpoint
	// refuses a conversation with tools that another model took part in.
	WantsReasoning bool
	// ShortCallIDs sends ids of nine letters and digits only.
	ShortCallIDs bool
	// Gateway marks OpenRouter: it says what it charged, in dollars, and has to
	// be asked to cache what is sent to Anthropic's models.
	Gateway bool
	// AssistantAfterTool puts a word of the model's between the result of a
	// tool and what the user says next, which may not follow each other.
	AssistantAfterTool bool
}

// EffortForm is a way of saying how hard to think.
type EffortForm string

// The ways.
const (
	// EffortField is the field reasoning_effort.
	EffortField EffortForm = ""
	// EffortThinking switches by thinking.type, and says the effort of a model
	// that has several in reasoning_effort.
	EffortThinking EffortForm = "thinking"
	// EffortObject is an object, reasoning, with the effort in it.
	EffortObject EffortForm = "reasoning"
	// EffortEnable switches by enable_thinking, and says the effort of a model
	// that has several in reasoning_effort.
	EffortEnable EffortForm = "enable_thinking"
	// EffortTemplate hands both to the model's chat template.
	EffortTemplate EffortForm = "chat_template_kwargs"
)

// effort returns what says a request's effort: the value of reasoning_effort,
// and that of the form's own field. Either may be empty.
func (d Dialect) effort(req llm.Request) (level string, own any) {
	if req.Effort == llm.EffortDefault {
		return "", nil
	}
	control := req.Reasoning
	known := control.Known()
	if !known {
		control.Levels = d.Efforts
	}
	canSwitch := control.Has(llm.ReasoningToggle)
	onlySwitch := canSwitch && len(control.Levels) == 0
	off := req.Effort == llm.EffortNone && (canSwitch || !known) || req.Effort == llm.EffortMinimal && onlySwitch
	if !onlySwitch {
		level = string(control.Level(req.Effort))
	}
	switch d.EffortForm {
	case EffortThinking:
		switch {
		case off:
			return "", map[string]any{"type": "disabled"}
		case canSwitch || !known:
			return level, map[string]any{"type": "enabled"}
		}
		return level, nil
	case EffortEnable:
		switch {
		case off:
			return "", false
		case !known:
			return "", true
		case canSwitch:
			return level, true
		}
		return level, nil
	case EffortObject:
		return "", effortObject(off, level)
	case EffortTemplate:
		template := map[string]any{"enable_thinking": !off}
		if level != "" && !off {
			template["reasoning_effort"] = level
		}
		return "", template
	}
	if off {
		level = string(llm.EffortNone) // a model that can only be switched thinks unless it is told not to
	}
	return level, nil
}

func effortObject(off bool, level string) map[string]any {
	switch {
	case off:
		return map[string]any{"effort": llm.EffortNone}
	case level == "":
		return map[string]any{"enabled": true}
	default:
		return map[string]any{"effort": level}
	}
}

// shortID is the form of [Dialect.ShortCallIDs].
var shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// callID is the form in which an id is sent.
func (d Dialect) callID(id string) string {
	if !d.ShortCallIDs || shortID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:9]
}

// bridge is what the model is made to say between a tool and the user. It is
// one message, so that it is encoded once.
var bridge = llm.Text(llm.RoleAssistant, "Understood.")

// bridged returns the messages with bridges where the endpoint needs them.
func (d Dialect) bridged(messages []llm.Message) []llm.Message {
	if !d.AssistantAfterTool {
		return messages
	}
	out := make([]llm.Message, 0, len(messages))
	for i, m := range messages {
		if i > 0 && messages[i-1].Role == llm.RoleTool && m.Role == llm.RoleUser {
			out = append(out, bridge)
		}
		out = append(out, m)
	}
	return out
}
