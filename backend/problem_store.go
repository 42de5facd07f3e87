package backend

// Problems of the database. Its path comes first.
const (
	ProblemStoreReadOnly  ProblemID = "store_read_only"
	ProblemStoreRepairing ProblemID = "store_repairing"
	ProblemStoreInUse     ProblemID = "store_in_use"
	ProblemMigration      ProblemID = "store_migration"   // the name of the migration, too
	ProblemBackupRoom     ProblemID = "store_backup_room" // and how many megabytes it takes
	ProblemBackupFailed   ProblemID = "store_backup_failed"
	ProblemStorePartly    ProblemID = "store_partly"
	ProblemSessionsHidden ProblemID = "sessions_hidden" // how many sessions are stored, and how many are shown
	ProblemEventsLost     ProblemID = "events_lost"     // how many events, and of how many sessions
	ProblemNothingToMove  ProblemID = "nothing_to_move" // the folder that has no sessions
	ProblemNotMoved       ProblemID = "not_moved"
	ProblemRepairEmpty    ProblemID = "store_repair_empty"
	ProblemRepairFailed   ProblemID = "store_repair_failed"
)

const (
	keptStore  = "The database was not changed."
	nextRepair = "Close Atelier and run: atelier doctor --repair. It copies the database first and saves every event that can be read."
)

var storeProblems = map[ProblemID]problem{
	ProblemStoreReadOnly: {
		code: CodeStoreNewer, message: "A newer Atelier wrote the database {0}, so this one only reads it.",
		kept: "It was not changed.", next: "Start the newer Atelier, or choose another folder with ATELIER_HOME.",
	},
	ProblemStoreRepairing: {code: CodeStoreLocked, message: "The database {0} is being repaired.", kept: keptAll, next: "Start Atelier again once the repair is done."},
	ProblemStoreInUse: {
		code: CodeStoreLocked, message: "Atelier is running and uses the database {0}.",
		kept: keptStore, next: "Close all of its windows and servers, then repair again.",
	},
	ProblemMigration: {
		code: CodeStoreUnusable, message: "The database {0} could not be brought to this version's form (step {1}).",
		kept: "Everything is as it was before.", next: "Use the Atelier that wrote it, and report this.",
	},
	ProblemBackupRoom: {
		code: CodeStoreUnusable, message: "There is no room for a copy of the database {0}, which takes {1} MB and is made before the database is changed.",
		kept: keptStore, next: "Make room on that disk and start again.",
	},
	ProblemBackupFailed: {
		code: CodeStoreUnusable, message: "The database {0} is copied before it is changed, and that failed.",
		kept: keptStore, next: "Run atelier doctor to see whether it is sound.",
	},
	ProblemStorePartly: {
		code: CodeStoreCorrupt, message: "A part of the database {0} is damaged.",
		kept: keptStore, next: nextRepair,
	},
	ProblemSessionsHidden: {
		code: CodeStoreCorrupt, message: "Of {1} stored sessions {2} can be shown; the others are damaged.",
		kept: keptStore, next: nextRepair,
	},
	ProblemEventsLost: {
		code: CodeStoreCorrupt, message: "Events that were stored are missing: {1}, of sessions: {2}. The file {0}-wal was removed or cut, or the disk lost a part of it.",
		kept: "Everything else is there.", next: "If you have a backup of that folder, restore it. Otherwise there is nothing to do.",
	},
	ProblemNothingToMove: {code: CodeNotFound, message: "No session belongs to {0}.", kept: keptAll, next: "Give the path that the folder had."},
	ProblemNotMoved:      {code: CodeNotFound, message: "No sessions were brought over just now.", kept: keptAll},
	ProblemRepairEmpty: {
		code: CodeStoreCorrupt, message: "Nothing in the database {0} can be read any more.",
		kept: "It was left as it is.", next: "Restore a backup; those that Atelier made are in the folder backups beside it.",
	},
	ProblemRepairFailed: {
		code: CodeStoreUnusable, message: "The database {0} could not be repaired.",
		kept: "It was left as it is.", next: "Make a copy of its folder before you try anything else.",
	},
}
