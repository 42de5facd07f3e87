package backend

// Problems of the database. Its path comes first.
const (
	ProblemStoreReadOnly  ProblemID = "store_read_only"
	ProblemStoreRepairing ProblemID = "store_repairing"
	ProblemStoreInUse     ProblemID = "store_in_use"
	ProblemMigration      ProblemID = "store_migration"   // the name of the migration, too
	ProblemBackupRoom     ProblemID = "store_backup_room" // and how many megabytes it takes
	ProblemBackupFailed   ProblemID = "store_backup_failed"
	ProblemRepairEmpty    ProblemID = "store_repair_empty"
	ProblemRepairFailed   ProblemID = "store_repair_failed"
)

const keptStore = "The database was not changed."

var storeProblems = map[ProblemID]problem{
	ProblemStoreReadOnly: {
		code: CodeStoreNewer, message: "A newer Atelier wrote the database {0}, so this one only reads it.",
		kept: "Nothing was saved.", next: "Start the newer Atelier, or choose another folder with ATELIER_HOME.",
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
		code: CodeStoreUnusable, message: "The database {0} could not be copied, which is done before it is changed.",
		kept: keptStore, next: "Run atelier doctor to see whether it is sound.",
	},
	ProblemRepairEmpty: {
		code: CodeStoreCorrupt, message: "Nothing in the database {0} can be read any more.",
		kept: "It was left as it is.", next: "Restore a backup; those that Atelier made are in the folder backups beside it.",
	},
	ProblemRepairFailed: {
		code: CodeStoreUnusable, message: "The database {0} could not be repaired.",
		kept: "It was left as it is.", next: "Make a copy of its folder before you try anything else.",
	},
}
