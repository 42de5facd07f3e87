package acp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// The ids of the options of a session.
const (
	optionMode   = "mode"
	optionModel  = "model"
	optionEffort = "effort"
)

// modes are those that a client can choose. None of them allows everything without asking:
// that is for the window, which warns of it.
var modes = []acp.SessionMode{
	{Id: acp.SessionModeId(agent.ModeDefault), Name: "Ask", Description: acp.Ptr("Asks before it changes anything")},
	{Id: acp.SessionModeId(agent.ModePlan), Name: "Plan", Description: acp.Ptr("Reads and proposes, and changes nothing")},
	{Id: acp.SessionModeId(agent.ModeAcceptEdits), Name: "Accept edits", Description: acp.Ptr("Changes files of the project without asking")},
	{Id: acp.SessionModeId(agent.ModeAuto), Name: "Auto", Description: acp.Ptr("Changes files without asking, and runs commands so where the system can confine them")},
	{Id: acp.SessionModeId(agent.ModeDontAsk), Name: "Do not ask", Description: acp.Ptr("Denies what would have to be asked about")},
}

// provider is what is used of a provider in the list of models.
type provider struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Models []struct {
		ID            string       `json:"id"`
		Name          string       `json:"name"`
		ContextWindow int64        `json:"context_window"`
		Efforts       []llm.Effort `json:"efforts"`
	} `json:"models"`
}

func (o *session) models(ctx context.Context) []provider {
	list, err := call[struct {
		Providers []provider `json:"providers"`
	}](ctx, o.host, "models.list", struct{}{})
	if err != nil {
		return nil // the model that is set still works
	}
	return list.Providers
}

// choices returns the modes and the options of the session.
func (o *session) choices(ctx context.Context) (*acp.SessionModeState, []acp.SessionConfigOption) {
	set := o.settings()
	mode := set.Mode
	if mode == "" {
		mode = agent.ModeDefault
	}
	state := &acp.SessionModeState{CurrentModeId: acp.SessionModeId(mode), AvailableModes: modes}
	var ways []acp.SessionConfigSelectOption
	for _, m := range modes {
		ways = append(ways, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(m.Id), Name: m.Name, Description: m.Description})
	}
	now := set.Provider + "/" + set.Model
	var models, efforts []acp.SessionConfigSelectOption
	for _, p := range o.models(ctx) {
		for _, m := range p.Models {
			ref := p.ID + "/" + m.ID
			if p.Ready || ref == now {
				models = append(models, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(ref), Name: p.Name + ": " + m.Name})
			}
			for _, e := range m.Efforts {
				if ref == now {
					efforts = append(efforts, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(e), Name: string(e)})
				}
			}
		}
	}
	all := []acp.SessionConfigOption{option(optionMode, "Mode", acp.SessionConfigOptionCategoryMode, string(mode), ways)}
	if len(models) > 0 {
		all = append(all, option(optionModel, "Model", acp.SessionConfigOptionCategoryModel, now, models))
	}
	if len(efforts) > 0 {
		efforts = slices.Insert(efforts, 0, acp.SessionConfigSelectOption{Value: "default", Name: "Default"})
		effort := string(set.Effort)
		if effort == "" {
			effort = "default"
		}
		all = append(all, option(optionEffort, "Effort", acp.SessionConfigOptionCategoryThoughtLevel, effort, efforts))
	}
	return state, all
}

func option(id, name string, category acp.SessionConfigOptionCategory, now string, values []acp.SessionConfigSelectOption) acp.SessionConfigOption {
	list := acp.SessionConfigSelectOptionsUngrouped(values)
	return acp.SessionConfigOption{Select: &acp.SessionConfigOptionSelect{
		Type: "select", Id: acp.SessionConfigId(id), Name: name, Category: &category, CurrentValue: acp.SessionConfigValueId(now),
		Options: acp.SessionConfigSelectOptions{Ungrouped: &list},
	}}
}

// set changes an option.
func (o *session) set(ctx context.Context, id, value string) error {
	set := o.settings()
	switch id {
	case optionMode:
		if !slices.ContainsFunc(modes, func(m acp.SessionMode) bool { return string(m.Id) == value }) {
			return acp.NewInvalidParams("there is no such mode")
		}
		set.Mode = agent.Mode(value)
	case optionModel:
		by, model, ok := strings.Cut(value, "/")
		if !ok {
			return acp.NewInvalidParams("there is no such model")
		}
		set.Provider, set.Model, set.Effort = by, model, ""
	case optionEffort:
		if set.Effort = llm.Effort(value); value == "default" {
			set.Effort = ""
		}
	default:
		return acp.NewInvalidParams("there is no such option")
	}
	o.server.chose(o.id, set)
	if _, err := call[json.RawMessage](ctx, o.host, "conversation.configure", map[string]any{"session": o.id, "settings": set}); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.current = set
	return nil
}

// changed tells the client of other settings.
func (o *session) changed(set agent.Settings, past bool) {
	o.mu.Lock()
	same := o.current == set
	o.current = set
	o.mu.Unlock()
	if past || same {
		return
	}
	state, options := o.choices(o.ctx)
	o.update(acp.SessionUpdate{CurrentModeUpdate: &acp.SessionCurrentModeUpdate{SessionUpdate: "current_mode_update", CurrentModeId: state.CurrentModeId}})
	o.update(acp.SessionUpdate{ConfigOptionUpdate: &acp.SessionConfigOptionUpdate{SessionUpdate: "config_option_update", ConfigOptions: options}})
}
