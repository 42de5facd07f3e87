package backend

// Problems of skills. The first argument names the skill, the file or the archive.
const (
	ProblemSkillMissing   ProblemID = "skill_missing"
	ProblemSkillFile      ProblemID = "skill_file"
	ProblemSkillUnread    ProblemID = "skill_unread"
	ProblemSkillOff       ProblemID = "skill_off"
	ProblemSkillUntrusted ProblemID = "skill_untrusted"
	ProblemSkillChanged   ProblemID = "skill_changed"
	ProblemSkillEdited    ProblemID = "skill_edited"
	ProblemSkillBuiltIn   ProblemID = "skill_built_in"
	ProblemSkillElsewhere ProblemID = "skill_elsewhere"
	ProblemSkillLarge     ProblemID = "skill_large"
	ProblemSkillName      ProblemID = "skill_name"
	ProblemSkillTaken     ProblemID = "skill_taken"
	ProblemSkillScope     ProblemID = "skill_scope"
	ProblemSkillUnwritten ProblemID = "skill_unwritten"
	ProblemSkillUntrashed ProblemID = "skill_untrashed"
	ProblemSkillBack      ProblemID = "skill_back"
	ProblemParcelPath     ProblemID = "skill_parcel_path"
	ProblemParcelUnread   ProblemID = "skill_parcel_unread"
	ProblemParcelEmpty    ProblemID = "skill_parcel_empty"
	ProblemParcelEntry    ProblemID = "skill_parcel_entry"
	ProblemParcelLarge    ProblemID = "skill_parcel_large"
	ProblemParcelChanged  ProblemID = "skill_parcel_changed"
)

const (
	keptSkills      = "The skills were not changed."
	keptUninstalled = "Nothing was installed."
)

var skillProblems = map[ProblemID]problem{
	ProblemSkillMissing: {code: CodeNotFound, message: "This skill no longer exists.", kept: keptSkills, next: "Look at the list of skills again."},
	ProblemSkillFile:    {code: CodeNotFound, message: "The skill has no file {0}.", kept: keptSkills, next: "Look at its list of files again."},
	ProblemSkillUnread: {
		code: CodeFolder, message: "{0} cannot be read.", kept: keptSkills, next: "Make it a file that you may read.",
	},
	ProblemSkillOff: {code: CodeInvalid, message: "The skill {0} is switched off.", kept: keptAll, next: "Switch it on in the panel Skills."},
	ProblemSkillUntrusted: {
		code: CodeInvalid, message: "The skill {0} runs commands of this project and is not used before you trust it.",
		kept: keptAll, next: "Look at what it runs and decide about it.",
	},
	ProblemSkillChanged: {
		code: CodeInvalid, message: "The skill {0} has changed since you trusted it and is not used before you trust it again.",
		kept: keptAll, next: "Look at what changed and decide about it.",
	},
	ProblemSkillEdited: {
		code: CodeBusy, message: "{0} has changed since it was shown.", kept: "It was left as it is now.", next: "Look at it again, then save.",
	},
	ProblemSkillBuiltIn: {
		code: CodeInvalid, message: "The skill {0} comes with Atelier and cannot be changed.",
		kept: keptSkills, next: "Write one of the same name, which takes its place.",
	},
	ProblemSkillElsewhere: {
		code: CodeInvalid, message: "A link leads from {0} to another place, so it is not changed here.", kept: keptSkills, next: "Change the file to which it leads.",
	},
	ProblemSkillLarge: {code: CodeInvalid, message: "The text is longer than {0} KB.", kept: keptSkills, next: "Move its details into files of their own."},
	ProblemSkillName: {
		code: CodeInvalid, message: `"{0}" cannot be the name of a skill.`, kept: keptSkills, next: "Use up to 64 letters, digits and - _ ., and begin with a letter or a digit.",
	},
	ProblemSkillTaken: {code: CodeInvalid, message: "{0} exists already.", kept: keptSkills, next: "Choose another name."},
	ProblemSkillScope: {code: CodeInvalid, message: "Skills cannot be kept there.", kept: keptSkills},
	ProblemSkillUnwritten: {
		code: CodeFolder, message: "{0} could not be written.", kept: keptSkills, next: "Check that you may write there and that the disk is not full.",
	},
	ProblemSkillUntrashed: {code: CodeNotFound, message: "This is no longer in the trash.", kept: keptSkills, next: "Look at the list of removed skills again."},
	ProblemSkillBack: {
		code: CodeInvalid, message: "{0} exists already.", kept: keptSkills, next: "Rename or remove what is there, and restore again.",
	},
	ProblemParcelPath:   {code: CodeInvalid, message: "{0} is not the path of a folder or of an archive (.zip, .skill, .tar.gz, .tgz).", kept: keptUninstalled, next: "Enter its whole path."},
	ProblemParcelUnread: {code: CodeInvalid, message: "{0} cannot be read.", kept: keptUninstalled, next: "Check that you may read it and that it is whole."},
	ProblemParcelEmpty:  {code: CodeNotFound, message: "{0} has no skill: there is no SKILL.md in it.", kept: keptUninstalled},
	ProblemParcelEntry:  {code: CodeInvalid, message: "{0} has an entry that is not installed: {1}.", kept: keptUninstalled, next: "Take it out, and choose the folder or the archive again."},
	ProblemParcelLarge: {
		code: CodeInvalid, message: "{0} has too much in it: more than {1} files or {2} MB, or far more than its size suggests.", kept: keptUninstalled, next: "Choose one with less in it.",
	},
	ProblemParcelChanged: {code: CodeBusy, message: "{0} has changed since it was shown.", kept: keptUninstalled, next: "Look at it again, then install."},
}

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
