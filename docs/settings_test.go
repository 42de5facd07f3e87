package docs_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/offload"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/agent/subagent"
)

// COM-52: each setting of an agent is there under the name that the guide says, with that
// default.
func TestSettingsHaveGoNames(t *testing.T) {
	t.Parallel()
	for of, names := range map[reflect.Type]string{
		reflect.TypeFor[agent.Config]():         "Limits Compactor Offload Facts Retry Approver ID Profiles Settings Remind",
		reflect.TypeFor[agent.Settings]():       "Model Mode Budget",
		reflect.TypeFor[llm.Request]():          "Options",
		reflect.TypeFor[llm.Options]():          "ToolChoice",
		reflect.TypeFor[compaction.Policy]():    "Ratio Budget Rules",
		reflect.TypeFor[offload.Store]():        "Dir From Max Plain Redact",
		reflect.TypeFor[subagent.Crew]():        "Parent Tools Kinds",
		reflect.TypeFor[profile.Surroundings](): "Memory",
		reflect.TypeFor[project.Memory]():       "Files MaxTokens",
	} {
		for name := range strings.FieldsSeq(names) {
			if _, ok := of.FieldByName(name); !ok {
				t.Errorf("%s has no %s", of, name)
			}
		}
	}
	patient := llm.PatientRetries
	for name, ok := range map[string]bool{
		"200 rounds":        agent.DefaultLimits.Rounds == 200,
		"2,000 tokens kept": offload.DefaultFrom == 4*2000,
		"2,000 of memory":   project.DefaultMemory == 2000,
		"80 %":              compaction.DefaultPolicy.Ratio == 0.8,
		"four at once":      subagent.MaxWorking == 4,
		"patient retries":   patient.Retries == 5 && patient.Base == time.Second && patient.Max == time.Minute,
		"no retries":        agent.Config{}.Retry == llm.RetryPolicy{},
	} {
		if !ok {
			t.Errorf("the default is not: %s", name)
		}
	}
	guide, err := os.ReadFile("library.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range strings.Fields(`max_iterations tool_choice offload_enabled offload_token_threshold include_cost llm_max_retries agents
		task_parallel_ mcp_enabled skills memory mcp_servers llm_levels session_id role permission_mode tool_approval_callback budget emit_compaction_meta_events`) {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + setting).Match(guide) {
			t.Errorf("the guide does not say what %s is called", setting)
		}
	}
}
