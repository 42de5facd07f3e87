package compat

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"

	"atelier.dev/atelier/agent/llm"
)

// Dialect describes how an endpoint departs from the common form of Chat
// Completions, which is the zero value. A difference that shows in an answer,
// such as the field of the reasoning, needs no flag: it is sent back the same
// way.
type Dialect struct {
	// CompletionCap caps the answer by max_completion_tokens. OpenAI's
	// reasoning models refuse max_tokens and a few other endpoints deprecate
	// it; all others know only max_tokens.
	CompletionCap bool
	// EffortForm is how the effort is requested.
	EffortForm EffortForm
	// Efforts are the levels that the endpoint accepts for an unknown model;
	// empty if they are unknown too.
	Efforts []llm.Effort
	// NoStreamOptions leaves out stream_options: the endpoint reports its usage
	// anyway and refuses unknown fields.
	NoStreamOptions bool
	// WantsReasoning adds reasoning_content, if necessary empty, to each of the
	// model's own messages. Without it the endpoint refuses a conversation with
	// tools in which another model took part.
	WantsReasoning bool
	// ShortCallIDs sends call ids of exactly nine letters and digits.
	ShortCallIDs bool
	// Gateway marks OpenRouter: it reports its charge in dollars, and must be
	// asked to cache input for Anthropic's models.
	Gateway bool
	// AssistantAfterTool inserts a message of the model between a tool's result
	// and the user's next message, which must not follow each other.
	AssistantAfterTool bool
}

// EffortForm is a way to request an effort.
type EffortForm string

// The forms.
const (
	// EffortField uses the field reasoning_effort.
	EffortField EffortForm = ""
	// EffortThinking switches by thinking.type, and uses reasoning_effort for a
	// model with several levels.
	EffortThinking EffortForm = "thinking"
	// EffortObject uses an object, reasoning, that contains the effort.
	EffortObject EffortForm = "reasoning"
	// EffortEnable switches by enable_thinking, and uses reasoning_effort for a
	// model with several levels.
	EffortEnable EffortForm = "enable_thinking"
	// EffortTemplate passes both to the model's chat template.
	EffortTemplate EffortForm = "chat_template_kwargs"
)

// effort returns the fields for a request's effort: the value of
// reasoning_effort, and that of the form's own field. Either may be empty.
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
		level = string(llm.EffortNone) // a model with only a switch thinks unless it is told not to
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

// shortID matches the ids of [Dialect.ShortCallIDs].
var shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// callID returns an id in the form in which it is sent.
func (d Dialect) callID(id string) string {
	if !d.ShortCallIDs || shortID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:9]
}

// bridge is the model's message between a tool and the user. It is a single
// value, so that it is encoded once.
var bridge = llm.Text(llm.RoleAssistant, "Understood.")
