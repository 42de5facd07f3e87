/** What is wrong with a file of an agent, by the id of the finding. */
export const findings: Record<string, string> = {
  agent_unread: '无法读取文件：{0}。',
  agent_front: 'frontmatter 超过 64 KB 或 1000 行，文件未被读取。',
  agent_yaml: 'frontmatter 不是有效的 YAML：{0}。已改为逐行读取。',
  agent_no_front: '文件不以 frontmatter 开头，因此不是智能体。',
  agent_name: '名称 {0} 不能用于智能体：它为空、以 - 开头，或含有冒号或不可见字符。',
  agent_description: '没有说明，模型无法判断何时使用该智能体。',
  agent_tool: '{0} 不是工具名，没有调用会与之匹配。',
  agent_no_tools: '{0} 中没有已知的工具，该智能体什么也调用不了，因此不提供。',
  agent_tools: '工具列表过长，最后 {0} 项不起作用。',
  agent_mode: '{0} 不是权限模式。该智能体以 plan 模式工作。',
  agent_value: '{0} 的值无法使用：{1}。',
  agent_no_effect: '键 {0} 在此不起作用。',
  agent_hooks: '无法读取其钩子，因此不提供该智能体：否则它会在没有这些防护的情况下运行。',
  agent_name_twice: '名称 {0} 又被 {1} 使用，以后者为准。',
}
