package skills

import (
	"context"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// templates are what a new skill can begin with.
var templates = []SkillTemplate{
	{Name: "procedure", Kind: skill.KindSkill, Text: `---
name: my-skill
description: What it does, in a sentence. Use when somebody asks for that, or says so in other words.
---

# What to achieve

Say in a sentence what is there once this is done.

## Steps

1. Look first: which files, which commands, which conventions of this project.
2. Do the work.
3. Check the result: run it, and read the output.

## Rules

- Say what must never happen.
- Say when to stop and ask.
`},
	{Name: "reader", Kind: skill.KindSkill, Text: `---
name: my-reviewer
description: Looks at changes for one kind of mistake. Use when somebody asks for a look at that before a commit.
allowed-tools: Read, Grep, Glob
---

Look at $ARGUMENTS, or at the files that were changed last if nothing is named. Change nothing.

For each mistake, say:

- where it is, as file and line;
- what goes wrong, with the input that shows it;
- how to mend it.

Say so if there is none.
`},
	{Name: "script", Kind: skill.KindSkill, Text: `---
name: my-tool
description: Runs a script of its own. Use when somebody asks for what the script prints.
allowed-tools: Bash, Read
---

Run ` + "`${CLAUDE_SKILL_DIR}/scripts/run.sh`" + ` and explain what it prints. Put the script into the folder "scripts" beside this file.

If it fails, show the last lines of its output, and do not try other commands in its place.
`},
	{Name: "prompt", Kind: skill.KindCommand, Text: `---
description: What the prompt is for
argument-hint: "[what to look at]"
---

Explain $ARGUMENTS to somebody who is new to this project: what it is for, how it is called, and what would break without it.
`},
	{Name: "lines", Kind: skill.KindCommand, Text: `---
description: Says what happened here lately
---

These are the last commits:

!` + "`git log --oneline -10`" + `

Say in three sentences what has been worked on, and what seems unfinished.
`},
}

// Templates is skills.templates.
func (s *Skills) Templates(context.Context, backend.Empty) (SkillTemplatesReply, error) {
	return SkillTemplatesReply{Templates: templates}, nil
}

// Reload is skills.reload.
func (s *Skills) Reload(ctx context.Context, _ backend.Empty) (SkillsReply, error) {
	if err := s.again(); err != nil {
		return SkillsReply{}, err
	}
	return s.List(ctx, SkillsRequest{})
}
