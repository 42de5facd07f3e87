package backend

// Problems of skills that a person begins. The first argument names the skill or the line.
const (
	ProblemSkillLines      ProblemID = "skill_lines"
	ProblemSkillLineDenied ProblemID = "skill_line_denied"
)

var skillUseProblems = map[ProblemID]problem{
	ProblemSkillLines: {
		code: CodeInvalid, message: "The skill {0} runs more than 20 command lines before it is sent.",
		kept: "None was run, and your message is still in the field.", next: "Let the skill ask the model to run some of them.",
	},
	ProblemSkillLineDenied: {
		code: CodeInvalid, message: "The skill would run a command line that is not allowed: {0} ({1})",
		kept: "None was run, and your message is still in the field.", next: "Change your rules or the permission mode, or run the command yourself.",
	},
}
