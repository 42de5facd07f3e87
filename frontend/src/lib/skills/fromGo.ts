/**
 * What Go says about skills, in Chinese, by the rule. A rule that says different things has a sentence
 * for each number of arguments, whose key ends in that number.
 */
export type FindingWords = { title: string; message: string; fix: string }

export const findings: Record<string, FindingWords> = {
  'READ-01': {
    title: '文件无法读取',
    message: '文件无法读取：{0}。',
    fix: '请确认文件存在，并且你有权读取。',
  },
  'READ-02': {
    title: '文件太大',
    message: '文件超过 1 MB，没有读取。',
    fix: '把细节移到单独的文件中，需要时才会读取。',
  },
  'READ-03': {
    title: '链接指向外部',
    message: '链接指向项目之外，Atelier 不会跟随这样的链接。',
    fix: '把技能复制到项目中，或从你自己的技能文件夹链接到它。',
  },
  'READ-04': {
    title: 'frontmatter 不是有效的 YAML',
    message: 'frontmatter 不是有效的 YAML：{0}。已改为逐行读取。',
    fix: '给含有冒号、括号或其他特殊字符的值加上引号。',
  },
  'READ-05': {
    title: '没有 frontmatter',
    message: '文件开头没有 frontmatter。',
    fix: '在文件开头写一行 ---、名称、描述和另一行 ---。',
  },
  'READ-06': {
    title: '未知的工具',
    message: '{0} 不是工具的名称，因此没有调用与它匹配。',
    fix: '更正名称，或把它去掉。',
  },
  'READ-07': {
    title: '不能调用任何工具',
    message: '{0} 中没有已知的工具，因此技能使用期间不能调用任何工具。',
    fix: '写明工具，或去掉这个键以允许所有工具。',
  },
  'READ-08': { title: '工具太多', message: '列表太长，最后 {0} 项无效。', fix: '缩短列表。' },
  'READ-09': {
    title: '值不是是或否',
    message: '{0} 的值既不是 true 也不是 false：{1}。',
    fix: '请写 true 或 false。',
  },
  'READ-10': {
    title: '未知的思考强度',
    message: '{0} 不是思考强度。',
    fix: '请写 low、medium、high、xhigh 或 max。',
  },
  'READ-11': {
    title: '键重复',
    message: '键 {0} 出现了不止一次，以第一个为准。',
    fix: '去掉其余的。',
  },
  'READ-12': { title: '键没有作用', message: '键 {0} 在这里没有作用。', fix: '' },
  'READ-13': {
    title: '名称无法输入',
    message: '名称 {0} 含有无法在命令中输入的字符，技能叫作 {1}。',
    fix: '重命名文件夹或文件。',
  },
  'READ-14': {
    title: '别名已被占用',
    message: '别名 {0} 已经属于 {1}。',
    fix: '换一个别名。',
  },
  'READ-15': {
    title: 'frontmatter 太长',
    message: 'frontmatter 超过 64 KB 或 1000 行，文件没有读取。',
    fix: '把其中的文字移到 frontmatter 之后。',
  },
  'READ-16': {
    title: '没有人能使用',
    message: '用户和模型都不能使用它。',
    fix: '去掉 user-invocable 或 disable-model-invocation。',
  },
  'READ-17': {
    title: '工具策略未知',
    message: 'tools-policy 的值既不是 limit 也不是 approve：{0}。这些工具作为限制生效。',
    fix: '写成 limit 或 approve。',
  },
  'SKILL-01': {
    title: '缺少 SKILL.md',
    message: '文件夹中没有 SKILL.md。',
    fix: '写一个含有名称、描述和说明的 SKILL.md。',
  },
  'SKILL-02': {
    title: '缺少名称',
    message: 'frontmatter 中没有名称，或名称为空。',
    fix: '加上一行文件夹的名称，例如 name: {0}。',
  },
  'SKILL-03': {
    title: '缺少描述',
    message: 'frontmatter 中没有描述，或描述为空。',
    fix: '加上描述，说明技能做什么、何时使用。',
  },
  'SKILL-04': {
    title: '名称的形式不对',
    message: '名称 {0} 与 {1} 不匹配，或超过 64 个字符。',
    fix: '使用小写字母和数字，词与词之间用一个连字符。',
  },
  'SKILL-05': {
    title: '名称与文件夹不同',
    message: '名称 {0} 不是文件夹的名称 {1}。',
    fix: '让文件夹与技能同名，使用小写字母和数字，词与词之间用一个连字符。',
  },
  'SKILL-06': {
    title: '描述没有说明何时使用',
    message: '描述没有说明何时使用技能：其中既没有“Use when”也没有“Use if”。',
    fix: '在描述中加一句以“Use when”开头的话。',
  },
  'SKILL-06/1': {
    title: '描述太长',
    message: '描述有 {0} 个字符，最多 1,024 个。',
    fix: '缩短描述，细节写在正文中。',
  },
  'SKILL-07': {
    title: '没有正文',
    message: 'frontmatter 之后没有内容。',
    fix: '在 frontmatter 之后写下说明。',
  },
  'WF-01': {
    title: '另一个文件有名称',
    message: '{0} 的 frontmatter 中有名称，名称只属于 SKILL.md。',
    fix: '从这个文件中去掉名称。',
  },
  'WF-02': {
    title: '另一个文件有描述',
    message: '{0} 的 frontmatter 中有描述，描述只属于 SKILL.md。',
    fix: '从这个文件中去掉描述。',
  },
  'PATH-02': {
    title: '使用了 installed_path',
    message: '使用了变量 installed_path，它随安装位置而不同。',
    fix: '写相对路径，以 ./ 或 ../ 开头。',
  },
  'STEP-01': {
    title: '步骤的命名不同',
    message: '文件名 {0} 与 {1} 不匹配。',
    fix: '重命名为 step-NN-what-it-does.md，其中 NN 是两位数字。',
  },
  'STEP-06': {
    title: '步骤含有元数据',
    message: '步骤的 frontmatter 中有键 {0}，它继承自技能。',
    fix: '去掉这个键。',
  },
  'STEP-07': {
    title: '步骤太少或太多',
    message: '步骤的数量是 {0}，2 到 10 个为宜。',
    fix: '只有一个步骤时写进启动它的文件，步骤太多时合并。',
  },
  'SEQ-02': {
    title: '估计了时间',
    message: '需要多长时间取决于模型和机器：{0}',
    fix: '去掉估计。',
  },
  'REF-01': {
    title: '引用无效',
    message: '引用 {0} 没有指向任何文件或文件夹。',
    fix: '更正路径，或补上缺少的内容。',
  },
  'REF-02': {
    title: '缺少要执行的内容',
    message: '目标 {0} 不存在。',
    fix: '更正路径，或补上文件。',
  },
  'REF-03': {
    title: '路径属于某一台电脑',
    message: '路径 {0} 只存在于一台电脑上。',
    fix: '写相对于此文件的路径。',
  },
  'REF-04': {
    title: '表格中的文件不存在',
    message: '表格中写有 {0}，但它不存在。',
    fix: '更正路径，或补上文件。',
  },
  'CHECK-01': {
    title: '有文件未检查',
    message: '文件无法检查：{0}。',
    fix: '请确认你有权读取它，并且它小于 1 MB。',
  },
  'CHECK-02': {
    title: '未全部检查',
    message: '文件夹中的文件多于所检查的数量。',
    fix: '把技能不需要的内容移出它的文件夹。',
  },
  'CHECK-03': {
    title: '还有同类结果',
    message: '{1} 还有 {0} 条结果未列出。',
    fix: '先处理列出的，再检查一次。',
  },
}

/** Why a skill does not apply to a project, in Chinese. */
export const unavailable: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^the folder has none of (.+)$/, '文件夹中没有以下任何一个：{0、}'],
]
