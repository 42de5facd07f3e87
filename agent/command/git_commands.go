package command

// gitCommand is a row: all that is known of a command of git.
type gitCommand struct {
	// look adds what it does; nil for commands that only read, or are not known. values are
	// options of one letter that take the next argument.
	look   func(gitCall)
	values string
	// usage is the use with which it only reads. listing has options of which one makes the
	// operands a selection; without such an option they would be created. It is empty if they
	// never are. words are the allowed first operands; empty allows any.
	usage          *usage
	listing, words string
	prints         *printer // it prints text of files that its arguments need not name
	options        string   // how its options are spelled; see [spelling]
	files          fileOptions
}

var gitTable map[string]gitCommand

// gitRows are the commands of git.
var gitRows = map[string]gitCommand{
	"--version": {usage: &usage{operands: takesNone}},
	"add":       {look: gitChanges, options: "f,force A,all n,dry-run u,update p,patch i,interactive e,edit N,intent-to-add v,verbose"},
	"am":        {look: gitApply},
	"apply":     {look: gitApply},
	"archive":   {prints: &printer{}, files: fileOptions{writes: "-o"}},
	"bisect":    {look: gitBisect},
	"blame": {
		usage: &usage{flags: "wsfenltcb", values: "L", tails: "MC", long: "abbrev= date= line-porcelain porcelain root show-email show-name show-number since="},
		files: fileOptions{reads: "--contents -S --ignore-revs-file"},
	},
	"branch": {
		look: gitBranch, values: "u",
		usage: &usage{flags: "arvi", long: `all color? column? contains? ignore-case list merged? no-abbrev no-color no-column no-contains? no-merged? points-at= remotes show-current sort=
				verbose format=`},
		listing: "list contains no-contains merged no-merged points-at",
		options: `d,delete D=d+f f,force m,move M=m+f c,copy C=c+f a,all r,remotes v,verbose l,list u:,set-upstream-to t,track q,quiet i,ignore-case contains
				no-contains merged no-merged sort: points-at: format: edit-description unset-upstream show-current`,
	},
	"bundle":       {prints: &printer{}},
	"cat-file":     {usage: &usage{flags: "epst"}, prints: &printer{unless: "-t -s -e"}},
	"check-ignore": {usage: &usage{flags: "vqn", long: "verbose quiet non-matching no-index", operands: takesTexts}},
	"checkout": {
		look: gitCheckout, values: "bB",
		options: `f,force b: B: q,quiet d,detach t,track m,merge l p,patch ours theirs orphan: conflict: guess no-guess no-track ignore-other-worktrees
				pathspec-from-file:`,
	},
	"cherry":      {usage: &usage{flags: "v", long: "abbrev? verbose"}},
	"cherry-pick": {look: gitChanges, values: "mX", options: "n,no-commit e,edit m:,mainline S?,gpg-sign s,signoff x X:,strategy-option strategy: abort continue skip quit"},
	"clean":       {look: gitClean, values: "e", options: "f,force d x X n,dry-run i,interactive q,quiet e:,exclude"},
	"clone":       {look: gitClone, values: "bcou"},
	"commit": {
		look: gitCommit, values: "mFcCt", prints: &printer{with: "-v --verbose", today: true},
		options: `n,no-verify a,all m:,message F:,file c:,reedit-message C:,reuse-message t:,template e,edit s,signoff S?,gpg-sign p,patch q,quiet v,verbose z,null
				i,include o,only u?,untracked-files amend author: date: cleanup: fixup: squash: no-edit allow-empty allow-empty-message dry-run short branch porcelain
				long no-gpg-sign reset-author trailer: pathspec-from-file: no-post-rewrite status no-status`,
	},
	"config":        {look: gitConfig, values: "f", options: "f:,file e,edit l,list global system local worktree unset unset-all get get-all get-regexp"},
	"count-objects": {usage: &usage{flags: "vH", long: "verbose human-readable", operands: takesNone}},
	"describe":      {usage: &usage{long: "abbrev= all always candidates= contains dirty? exact-match exclude= first-parent long match= tags"}},
	"diff":          {usage: &usage{flags: "pusbwzRaW", values: "SG", tails: "UMC", long: "cached staged " + gitDiffs}, prints: &printer{unless: summaries, today: true}},
	"diff-files":    {prints: &printer{with: patches, today: true}},
	"diff-index":    {prints: &printer{with: patches}},
	"diff-tree":     {usage: &usage{flags: "rt", long: "name-only name-status no-commit-id no-renames root stat numstat shortstat"}, prints: &printer{with: patches}},
	"difftool":      {prints: &printer{}},
	"fast-export":   {prints: &printer{}},
	"fetch":         {look: gitFetch, options: "f,force p,prune a,append t,tags n,no-tags k,keep j: all depth: upload-pack:"},
	"filter-branch": {look: gitDestroys},
	"filter-repo":   {look: gitDestroys},
	"for-each-ref":  {usage: &usage{long: "format= sort= count= points-at= contains? no-contains? merged? no-merged?", operands: takesTexts}},
	"format-patch":  {prints: &printer{}, files: fileOptions{writes: "-o"}},
	"gc":            {look: gitCollect},
	"grep": {
		usage: &usage{flags: "aEFGhHIilnPvwcoLWpqz", values: "ABCem", long: `all-match and break cached color? count extended-regexp files-with-matches files-without-match fixed-strings function-context heading ignore-case
				invert-match line-number max-depth= name-only no-color only-matching perl-regexp quiet show-function word-regexp`, operands: takesPattern},
		prints: &printer{unless: "-l -L -c -q --count --quiet --files-with-matches --name-only --files-without-match", today: true},
		files:  fileOptions{reads: "-f"},
	},
	"init": {look: gitInit},
	"log": {
		usage:  &usage{flags: "pusbwziRm", values: "nSGL", tails: "UMC", long: gitLimits + " " + gitFormats + " " + gitDiffs, count: true},
		prints: &printer{with: patches},
	},
	"ls-files": {
		usage: &usage{flags: "cdikmostuvz", long: "cached deleted directory error-unmatch exclude-standard full-name ignored killed modified others stage unmerged"},
	},
	"ls-remote": {look: gitFetch},
	"ls-tree":   {usage: &usage{flags: "dlrtz", long: "abbrev? full-name full-tree long name-only name-status"}},
	"merge": {
		look: gitChanges, values: "mFXsS",
		options: `m:,message F:,file s:,strategy X:,strategy-option S?,gpg-sign e,edit n,no-stat q,quiet v,verbose no-verify no-ff ff ff-only squash abort continue quit
				no-commit`,
	},
	"merge-base": {usage: &usage{flags: "a", long: "all is-ancestor octopus independent"}},
	"mv":         {look: gitChanges, options: "f,force k n,dry-run v,verbose"},
	"name-rev":   {usage: &usage{long: "always name-only refs= tags"}},
	"notes":      {files: fileOptions{reads: "-F --file"}},
	"prune":      {look: gitDestroys},
	"pull": {
		look:    gitPull,
		options: "r?,rebase f,force q,quiet v,verbose no-rebase ff-only no-ff s:,strategy X:,strategy-option n,no-stat no-verify a,append t,tags k,keep p,prune",
	},
	"push": {
		look: gitPush, values: "o",
		options: `f,force n,dry-run d,delete u,set-upstream o:,push-option q,quiet v,verbose 4,ipv4 6,ipv6 all,branches mirror=mirror+f tags follow-tags
				force-with-lease force-if-includes no-verify prune atomic thin no-thin signed receive-pack:,exec repo: progress porcelain recurse-submodules: +~f :~d`,
	},
	"range-diff": {prints: &printer{}},
	"rebase": {
		look: gitRebase, values: "xsX",
		options: `i,interactive x:,exec s:,strategy X:,strategy-option S?,gpg-sign m,merge q,quiet v,verbose n,no-stat f,force-rebase,no-ff r?,rebase-merges onto: root
				autosquash no-autosquash no-verify autostash abort continue skip quit`,
	},
	"reflog":   {look: gitReflog, usage: &usage{values: "n", operands: takesNone, count: true}, prints: &printer{with: patches}},
	"remote":   {look: gitRemote, values: "tm", usage: &usage{flags: "v", long: "verbose"}, words: "get-url", options: "v,verbose f,fetch t: m:"},
	"replace":  {look: gitDestroys},
	"reset":    {look: gitReset, options: "hard soft mixed merge keep q,quiet p,patch N,intent-to-add pathspec-from-file:"},
	"restore":  {look: gitRestore, values: "s", options: "s:,source S,staged W,worktree p,patch q,quiet m,merge ours theirs conflict: pathspec-from-file:"},
	"rev-list": {usage: &usage{values: "n", long: "abbrev-commit count objects? " + gitLimits, count: true}},
	"rev-parse": {
		usage: &usage{flags: "q", long: `abbrev-ref? absolute-git-dir all branches? git-common-dir git-dir is-bare-repository is-inside-git-dir is-inside-work-tree quiet remotes? short?
				show-cdup show-prefix show-toplevel symbolic symbolic-full-name tags? verify`},
	},
	"revert":   {look: gitChanges, values: "m", options: "n,no-commit e,edit m:,mainline S?,gpg-sign s,signoff X:,strategy-option strategy: abort continue skip quit"},
	"rm":       {look: gitRemove, options: "f,force r cached n,dry-run q,quiet ignore-unmatch"},
	"shortlog": {usage: &usage{flags: "cens", long: "committer email numbered summary " + gitLimits}},
	"show": {
		usage:  &usage{flags: "pusbwzRm", values: "nSG", tails: "UMC", long: gitLimits + " " + gitFormats + " " + gitDiffs, count: true},
		prints: &printer{unless: summaries},
	},
	"show-ref": {usage: &usage{flags: "dhqs", long: "dereference heads branches tags verify quiet hash? abbrev?"}},
	"stash": {
		look: gitStash, values: "m",
		usage: &usage{flags: "pu", long: "patch stat shortstat numstat name-only name-status include-untracked no-color color?"},
		words: "list show", prints: &printer{with: patches}, options: "p,patch u,include-untracked a,all q,quiet m:,message k,keep-index S,staged",
	},
	"status": {
		usage:  &usage{flags: "sbz", tails: "u", long: "short branch long porcelain? untracked-files? ignored? show-stash ahead-behind no-ahead-behind null renames no-renames find-renames?"},
		prints: &printer{with: "-v -vv --verbose", today: true},
	},
	"submodule": {look: gitSubmodule, options: "q,quiet f,force b:,branch"},
	"switch": {
		look: gitSwitch, values: "cC",
		options: "f,force,discard-changes c:,create C:,force-create d,detach m,merge q,quiet t,track orphan: conflict: guess no-guess no-track",
	},
	"symbolic-ref": {usage: &usage{flags: "q", long: "quiet short", most: 1}},
	"tag": {
		look: gitTag, values: "mFu",
		usage:   &usage{flags: "il", long: "contains? ignore-case list merged? no-contains? no-merged? points-at= sort="},
		listing: "l list contains no-contains merged no-merged points-at",
		options: "d,delete f,force a,annotate s,sign m:,message F:,file l,list n? v,verify u:,local-user e,edit sort: contains points-at: format:",
		files:   fileOptions{reads: "-F --file"},
	},
	"update-ref":  {look: gitDestroys},
	"version":     {usage: &usage{operands: takesNone}},
	"whatchanged": {prints: &printer{with: patches}},
	"worktree":    {look: gitWorktree, values: "bB", usage: &usage{long: "porcelain"}, words: "list", options: "f,force b: B: d,detach"},
}
