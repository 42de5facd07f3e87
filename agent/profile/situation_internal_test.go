package profile

import (
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
)

// Every reason to leave a document out has words.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	for problem, want := range map[project.Problem]string{
		project.ProblemUnopened:  "it cannot be opened, or leads out of the project",
		project.ProblemIrregular: "it is not a regular file",
		project.ProblemUnread:    "it cannot be read: input/output error",
		project.ProblemBinary:    "it is not text",
		project.ProblemForeign:   "it belongs to another user",
	} {
		d := project.Document{Path: "AGENTS.md", Problem: problem}
		if problem == project.ProblemUnread {
			d.Cause = "input/output error"
		}
		if got := leftOut(d); got.Problem != want || got.ProblemID != agent.DocumentProblemID(problem) {
			t.Errorf("%s: %+v, want %q", problem, got, want)
		}
	}
}
