package command

// filePrograms are programs that read, print and change files.
var filePrograms = map[string]program{
	"7z":                    {does: writes, files: fileOptions{writes: "-o"}, deep: "*"},
	"7za":                   {files: fileOptions{writes: "-o"}, deep: "*"},
	":":                     {does: prints | isText},
	"ack bfs ncdu rgrep ug": {deep: "*"},
	"ag":                    {does: reads, more: "--pager", deep: "*"},
	"ar black bunzip2 bzip2 clang-format convert csplit dos2unix ffmpeg gofumpt goimports gunzip gzip isort magick mkfifo objcopy pandoc prettier rename rustfmt setfacl shfmt strip unix2dos unxz unzstd xattr xz zstd": {
		does: writes,
	},
	"arch groups lscpu nproc whoami": {does: prints, usage: &usage{operands: takesNone}},
	"awk":                            {does: handsOn, usage: &usage{values: "Fv", operands: takesPattern, check: awkPrints}, look: filters},
	"b2sum":                          {does: reads, usage: &usage{flags: "bt", long: "binary text tag"}},
	"base32 bzcat dir ldd more readelf size tsort vdir xzcat zcat zgrep zless": {does: reads},
	"base64":   {does: reads, usage: &usage{flags: "d", values: "w", long: "decode wrap="}},
	"basename": {does: prints | handsOn, usage: &usage{flags: "az", values: "s", long: "multiple suffix= zero", operands: takesTexts}},
	"bsdtar":   {usage: &usage{flags: "tvzjJ", values: "f", long: "list verbose", operands: takesTexts, check: listsTar}, look: archives, deep: "*"},
	"cat": {
		does:  reads | handsOn,
		usage: &usage{flags: "AbEenstTuv", long: "number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank", prints: true},
	},
	"chgrp": {does: writes, options: "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference:", deep: "R --recursive"},
	"chmod": {does: writes, options: "R,recursive f,silent,quiet v,verbose c,changes reference: preserve-root no-preserve-root", deep: "R --recursive"},
	"chown": {
		does:    writes,
		options: "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P from: reference: preserve-root no-preserve-root",
		deep:    "R --recursive",
	},
	"cksum":  {does: reads | handsOn, usage: &usage{}},
	"cmp":    {does: reads, usage: &usage{flags: "bls", values: "in", long: "bytes= ignore-initial= print-bytes silent quiet verbose"}},
	"column": {does: reads, usage: &usage{flags: "tx", values: "csN", long: "table separator="}},
	"comm":   {does: reads, usage: &usage{flags: "123iz", long: "check-order nocheck-order output-delimiter= total"}},
	"cp": {
		options: `r,R,recursive a,archive=a+r f,force i,interactive n,no-clobber u,update v,verbose p l,link s,symbolic-link t:,target-directory T,no-target-directory
				S:,suffix x b backup`,
		look: copies, deep: "r R a --recursive --archive",
	},
	"cut": {does: reads, usage: &usage{flags: "nsz", values: "bcdf", long: "bytes= characters= complement delimiter= fields= only-delimited output-delimiter="}},
	"date": {
		does:  prints,
		usage: &usage{flags: "uR", values: "d", long: "date= iso-8601? rfc-3339= rfc-email universal utc", operands: takesTexts, check: showsTime},
		more:  "-s --set", values: "dfrI",
	},
	"dd": {look: dumps},
	"df": {does: reads, usage: &usage{flags: "aHhiklmPT", long: "all human-readable inodes local portability print-type si total"}},
	"diff": {
		does: reads,
		usage: &usage{flags: "abBcdeEinpqstTuwyZ", values: "CILUW", long: `brief color? context? ignore-all-space ignore-blank-lines ignore-case ignore-space-change ignore-trailing-space label= minimal new-file side-by-side
				strip-trailing-cr suppress-common-lines text unified? width=`, count: true, check: comparesWhole},
	},
	"dirname":       {does: prints | handsOn, usage: &usage{flags: "z", long: "zero", operands: takesTexts}},
	"ditto install": {look: copies},
	"du": {
		does:  reads | handsOn,
		usage: &usage{flags: "abchHkmSsx0", values: "d", long: "all apparent-size bytes exclude= human-readable max-depth= null one-file-system separate-dirs si summarize time? total", here: true},
		deep:  "*",
	},
	"egrep fgrep": {
		does: reads | handsOn,
		usage: &usage{flags: "abcEFGhHiIlLnoPqrsvwxy", values: "ABCDdem", long: `after-context= before-context= basic-regexp binary-files= byte-offset color? colour? context? count exclude= exclude-dir= extended-regexp
				files-with-matches files-without-match fixed-strings ignore-case include= initial-tab invert-match line-number line-regexp max-count= no-filename
				no-ignore-case no-messages null only-matching perl-regexp quiet recursive regexp= silent text with-filename word-regexp`, operands: takesPattern, count: true, check: searchesRecursively},
		deep: "r R --recursive --dereference-recursive",
	},
	"exa eza":    {does: listsNames, deep: "R T --recurse --tree"},
	"expand":     {does: reads, usage: &usage{flags: "i", values: "t"}},
	"expr sleep": {does: prints, usage: &usage{operands: takesTexts}},
	"fd fdfind": {
		usage: &usage{flags: "HIusigFpa01q", values: "deEtSj", long: `hidden no-ignore no-ignore-vcs case-sensitive ignore-case glob fixed-strings full-path absolute-path print0 quiet regex max-depth= min-depth=
				exact-depth= extension= exclude= type= size= changed-within= changed-before= newer= older= max-results= color= and=`, here: true, check: findsNames},
		deep: "*",
	},
	"file": {
		does:  reads | handsOn,
		usage: &usage{flags: "bhikLNr", long: "brief dereference keep-going mime mime-encoding mime-type no-dereference"},
		more:  "-C --compile", values: "mfFPe",
	},
	"find":      {commands: kinds{deletes: "-delete"}, options: "*whole", look: finds, deep: "*"},
	"fmt":       {does: reads, usage: &usage{flags: "cstu", values: "w"}},
	"fold":      {does: reads, usage: &usage{flags: "bs", values: "w", long: "bytes spaces width="}},
	"free":      {does: prints, usage: &usage{flags: "bkmghtw", operands: takesNone}},
	"gawk mawk": {usage: &usage{values: "Fv", operands: takesPattern, check: awkPrints}, look: filters},
	"gofmt":     {usage: &usage{flags: "ldes", check: formats}, look: edits},
	"gio":       {commands: kinds{deletes: "trash|remove"}},
	"grep": {
		does: reads | handsOn,
		usage: &usage{flags: "abcEFGhHiIlLnoPqrsvwxy", values: "ABCDdem", long: `after-context= before-context= basic-regexp binary-files= byte-offset color? colour? context? count exclude= exclude-dir= extended-regexp
				files-with-matches files-without-match fixed-strings ignore-case include= initial-tab invert-match line-number line-regexp max-count= no-filename
				no-ignore-case no-messages null only-matching perl-regexp quiet recursive regexp= silent text with-filename word-regexp`, operands: takesPattern, count: true, check: searchesRecursively},
		options: `r,recursive R,dereference-recursive i,ignore-case l,files-with-matches n,line-number e:,regexp f:,file m:,max-count A: B: C: v,invert-match
				w,word-regexp E,extended-regexp F,fixed-strings P,perl-regexp o,only-matching c,count q,quiet,silent s,no-messages`,
		deep: "r R --recursive --dereference-recursive",
	},
	"hash":         {does: prints, more: "-p", values: "t"},
	"head":         {does: reads | handsOn, usage: &usage{flags: "qvz", values: "cn", long: "bytes= lines= quiet silent verbose", prints: true, count: true}},
	"hexdump":      {does: reads, usage: &usage{flags: "bCcdovx", values: "ns"}},
	"hg jj oc svn": {does: verbs},
	"history":      {does: prints, more: "-w -a -r -c -d -s"},
	"hostname":     {does: prints, usage: &usage{flags: "s", operands: takesNone}},
	"iconv":        {does: writes, values: "ft", files: fileOptions{writes: "-o --output"}},
	"id":           {does: prints, usage: &usage{flags: "gGnru", long: "group groups name real user", operands: takesNone}},
	"jobs":         {does: prints, more: "-x"},
	"join":         {does: reads, usage: &usage{flags: "iz", values: "12aevjot", long: "ignore-case header check-order nocheck-order"}},
	"jq": {
		does:  reads | handsOn,
		usage: &usage{flags: "rcnsSMCaje", long: "raw-output compact-output null-input slurp sort-keys monochrome-output color-output ascii-output join-output exit-status tab indent=", operands: takesPattern, check: jqOnlyReads},
	},
	"less": {does: reads | launches, more: "-o -O --log-file --LOG-FILE", values: "bhjkpPtTxyz"},
	"ln": {
		options: "s,symbolic f,force n,no-dereference i,interactive v,verbose r,relative t:,target-directory T,no-target-directory S:,suffix b backup",
		look:    copies, deep: "s --symbolic",
	},
	"ls": {
		does: reads | handsOn | listsNames,
		usage: &usage{flags: "1AaBbCcdFfGghHikLlmNnopqQRrSstUuvXxZ", long: `all almost-all author escape directory classify? color? file-type format= full-time group-directories-first human-readable inode literal no-group
				numeric-uid-gid quote-name recursive reverse size si sort= time= time-style= hide= ignore=`, here: true},
		options: "R,recursive a,all A,almost-all r,reverse l t S h,human-readable d,directory", deep: "R --recursive",
	},
	"lsd":                                {does: listsNames, deep: "R --recursive --tree"},
	"man":                                {does: prints, more: "-P -H --pager --html", values: "CLmMSsepr"},
	"md5sum sha1sum sha256sum sha512sum": {does: reads | handsOn, usage: &usage{flags: "bt", long: "binary text tag"}},
	"mkdir":                              {does: writes, options: "p,parents m:,mode v,verbose", values: "m"},
	"mktemp":                             {does: writes, files: fileOptions{writes: "-p --tmpdir"}},
	"mv":                                 {options: "f,force i,interactive n,no-clobber u,update v,verbose t:,target-directory T,no-target-directory S:,suffix b backup", look: copies, deep: "*"},
	"nawk":                               {usage: &usage{values: "Fv", operands: takesPattern, check: awkPrints}},
	"nl": {
		does:  reads | handsOn,
		usage: &usage{flags: "p", values: "bdfhilnsvw", long: "body-numbering= number-format= number-separator= number-width= starting-line-number= line-increment=", prints: true},
	},
	"nm objdump": {does: reads, more: "--plugin"},
	"od":         {does: reads, usage: &usage{flags: "abcdfhilosvx", values: "AjNtw", long: "address-radix= format= read-bytes= skip-bytes= width?"}},
	"paste":      {does: reads, usage: &usage{flags: "sz", values: "d", long: "serial delimiters= zero-terminated"}},
	"patch":      {does: writes, values: "pidorBDFgVYz", files: fileOptions{writes: "-d --directory -o --output -r --reject-file"}},
	"pgrep":      {does: prints, usage: &usage{flags: "acflnox", values: "u", operands: takesTexts}},
	"printenv":   {does: prints, usage: &usage{operands: takesTexts, check: tellsNames}},
	"readlink":   {does: reads | handsOn, usage: &usage{flags: "efmnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline"}},
	"realpath":   {does: reads | handsOn, usage: &usage{flags: "eLmPqsz", long: "canonicalize-existing canonicalize-missing logical no-symlinks physical quiet strip"}},
	"rev":        {does: reads, usage: &usage{}},
	"rg": {
		does: reads,
		usage: &usage{flags: "acFhHiIlNnopqSsUvVwx0.P", values: "ABCdeEgjMmrTt", long: `after-context= before-context= byte-offset case-sensitive color= colors= column context= context-separator= count count-matches crlf files
				files-with-matches files-without-match fixed-strings glob= glob-case-insensitive heading hidden iglob= ignore-case include-zero invert-match json
				line-number line-regexp max-columns= max-columns-preview max-count= max-depth= max-filesize= multiline multiline-dotall no-column no-config
				no-filename no-heading no-ignore no-ignore-vcs no-line-number no-messages null only-matching passthru pcre2 pretty quiet regexp= replace= smart-case
				sort= sortr= stats text threads= trim type= type-list type-not= vimgrep with-filename word-regexp`, operands: takesPattern, here: true, count: true, check: searchesTree},
		more: "--pre --hostname-bin", deep: "*",
	},
	"rimraf": {does: deletes},
	"rm":     {options: "r,R,recursive f,force i I interactive v,verbose d,dir one-file-system preserve-root no-preserve-root", look: removes, deep: "r R --recursive"},
	"rmdir":  {options: "p,parents v,verbose", look: removes},
	"sed": {
		does:    handsOn,
		usage:   &usage{flags: "nErsuz", values: "e", long: "expression= quiet silent regexp-extended separate", operands: takesPattern, check: printsLines},
		options: "i?,in-place n,quiet,silent e:,expression f:,file E,r,regexp-extended s,separate z,null-data", look: edits,
	},
	"seq":                              {does: prints, usage: &usage{flags: "w", values: "fs", long: "equal-width format= separator=", operands: takesTexts, count: true}},
	"sha224sum sha384sum":              {usage: &usage{flags: "bt", long: "binary text tag"}},
	"shred srm trash trash-put unlink": {does: deletes, look: removes},
	"sort": {
		usage: &usage{flags: "bcCdfghiMnRrsuVz", values: "kt", long: `check? dictionary-order field-separator= general-numeric-sort human-numeric-sort ignore-case ignore-leading-blanks key= month-sort numeric-sort
				random-sort reverse sort= stable unique version-sort zero-terminated`},
		look: filters,
	},
	"split":   {does: writes | launches, values: "lbn"},
	"ss":      {does: prints, usage: &usage{flags: "46aHlnptux", operands: takesNone}},
	"stat":    {does: reads | handsOn, usage: &usage{flags: "fLt", values: "c", long: "dereference file-system format= printf= terse"}},
	"strings": {does: reads | handsOn, usage: &usage{flags: "af", values: "n"}},
	"tac":     {does: reads | handsOn, usage: &usage{flags: "br", long: "before regex"}},
	"tail":    {does: reads | handsOn, usage: &usage{flags: "qv", values: "cn", long: "bytes= lines= quiet silent verbose", prints: true, count: true}},
	"tar": {
		usage: &usage{flags: "tvzjJ", values: "f", long: "list verbose file= gzip bzip2 xz zstd numeric-owner full-time wildcards no-recursion", operands: takesTexts, check: listsTar},
		options: `*bare x,extract,get c,create t,list r,append u,update A,catenate,concatenate z,gzip,gunzip,ungzip j,bzip2 J,xz v,verbose f:,file C:,directory
				P,absolute-names k,keep-old-files p,preserve-permissions,same-permissions O,to-stdout X:,exclude-from T:,files-from I:,use-compress-program exclude:
				strip-components: delete remove-files overwrite h,dereference a,auto-compress to-command: checkpoint-action:`,
		look: archives, files: fileOptions{writes: "--file"}, deep: "*",
	},
	"tee":   {look: tees},
	"touch": {does: writes, values: "dtr"},
	"tr":    {does: reads, usage: &usage{flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1", operands: takesTexts}},
	"tree": {
		does:  reads,
		usage: &usage{flags: "aACcdDfFghiJNnpQqrstuUvX", values: "ILP", long: "dirsfirst du filelimit= gitignore noreport prune", here: true},
		more:  "-o", values: "LPIH", deep: "*",
	},
	"truncate": {does: writes, options: "s:,size r:,reference c,no-create o,io-blocks", values: "sr"},
	"type":     {does: prints, usage: &usage{flags: "aftpP", operands: takesTexts, builtin: true}},
	"ugrep":    {deep: "r R --recursive --dereference-recursive"},
	"uname":    {does: prints, usage: &usage{flags: "aimnoprsv", long: "all kernel-name kernel-release machine nodename operating-system processor", operands: takesNone}},
	"unexpand": {does: reads, usage: &usage{flags: "a", values: "t"}},
	"uniq":     {does: writes, usage: &usage{flags: "cdiuz", values: "fsw", long: "check-chars= count ignore-case repeated skip-chars= skip-fields= unique", most: 1}},
	"unzip":    {usage: &usage{flags: "lvZ1", operands: takesTexts, check: listsZip}, look: archives},
	"uptime":   {does: prints, usage: &usage{flags: "ps", operands: takesNone}},
	"wc":       {does: reads | handsOn, usage: &usage{flags: "clLmw", long: "bytes chars lines max-line-length words"}},
	"whereis":  {does: prints, usage: &usage{flags: "bms", operands: takesTexts}},
	"which":    {does: prints, usage: &usage{flags: "as", operands: takesTexts}},
	"xxd":      {does: writes, usage: &usage{flags: "abeipu", values: "cgl", most: 1}},
	"yq":       {look: edits},
	"zip":      {does: launches, look: archives, deep: "*"},
	"zipinfo":  {usage: &usage{flags: "12smlvhtTz", operands: takesTexts, check: listsZip}},
}
