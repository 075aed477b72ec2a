-- By Tidegate (tidegate slurm setup), for /etc/slurm/job_submit.lua, with JobSubmitPlugins=lua in slurm.conf.
-- Jobs of this partition wait until Tidegate starts them. Run setup again when the nodes have changed.
local PARTITION, FOLDER = "@PARTITION@", "@FOLDER@"
local CPUS_OF_GPU, MIB_OF_GPU = @CPUS@, @MIB@
-- The account of the agent, which submits for Tidegate. It and root may change these jobs, and nobody else.
local AGENT = @AGENT@
-- Lines before the user's own script; its first line comes after them.
local LINES = 5
local NO_VAL, NO_VAL16, NO_VAL64 = 4294967294, 65534, 1.8e19

local function refuse(reason)
  slurm.log_user("partition %s is governed by Tidegate: %s", PARTITION, reason)
  return slurm.ERROR
end

local function is_set(value)
  return value ~= nil and value ~= "" and value ~= 0 and value ~= NO_VAL and value ~= NO_VAL16 and value < NO_VAL64
end

local function is_named(value)
  return value ~= nil and value ~= ""
end

local function mark()
  local source = assert(io.open("/dev/urandom", "rb"))
  local bytes = source:read(16)
  source:close()
  return (string.gsub(bytes, ".", function(byte) return string.format("%02x", string.byte(byte)) end))
end

-- How many GPUs a job asks for on its node; nothing if that is not said plainly.
local function gpus(job)
  if is_named(job.tres_per_job) or is_named(job.tres_per_task) or is_named(job.tres_per_socket) then return nil end
  return tonumber(string.match(job.tres_per_node or "", "^gres:gpu:(%d+)$"))
end

-- What Tidegate cannot see to, and would make Slurm hold up what Tidegate has started.
local OTHERS = { "req_nodes", "exc_nodes", "features", "licenses", "dependency", "reservation", "array_inx", "burst_buffer" }

local function unfit(job, count)
  if not is_named(job.script) then return "only jobs of sbatch can wait for it; salloc and srun cannot" end
  if not count or count < 1 then return "ask for GPUs with --gres=gpu:N and in no other way" end
  if is_set(job.min_nodes) and job.min_nodes > 1 then return "a job has one node; submit larger ones with tidegate submit" end
  if job.het_job_offset ~= nil and job.het_job_offset ~= NO_VAL then return "it takes no heterogeneous jobs" end
  for _, name in ipairs(OTHERS) do
    if is_named(job[name]) then return "it takes no jobs with " .. name .. "; leave that out" end
  end
  if is_set(job.begin_time) then return "it takes no jobs with begin_time; leave that out" end
  if job.shared == 0 then return "it takes no jobs with --exclusive; leave that out" end
  if is_named(job.account) and not string.match(job.account, "^[%w_.-]+$") then return "that account is not one of its" end
  local cpus = is_set(job.min_cpus) and job.min_cpus or 1
  local each = tonumber(string.match(job.cpus_per_tres or "", "(%d+)$"))
  if each then cpus = math.max(cpus, each * count) end
  if cpus > CPUS_OF_GPU * count then
    return string.format("%d GPUs have %d CPUs, and it asks for %d", count, CPUS_OF_GPU * count, cpus)
  end
  local mib = 0
  if is_set(job.min_mem_per_node) then mib = job.min_mem_per_node end
  if is_set(job.min_mem_per_cpu) then mib = job.min_mem_per_cpu * cpus end
  local of_gpu = tonumber(string.match(job.mem_per_tres or "", "(%d+)$"))
  if of_gpu then mib = of_gpu * count end
  if mib > MIB_OF_GPU * count then
    return string.format("%d GPUs have %d MiB of memory, and it asks for %d", count, MIB_OF_GPU * count, mib)
  end
  return nil
end

function slurm_job_submit(job, partitions, uid)
  local asked = job.partition
  if not is_named(asked) then
    for name, partition in pairs(partitions) do
      if partition.flag_default == 1 then asked = name end
    end
  end
  if asked ~= PARTITION then
    for name in string.gmatch(asked or "", "[^,]+") do
      if name == PARTITION then return refuse("name no other partition beside it") end
    end
    return slurm.SUCCESS
  end
  -- The agent's own are known by their comments.
  if uid == AGENT and string.match(job.comment or "", "^tidegate ") then return slurm.SUCCESS end
  local reason = unfit(job, gpus(job))
  if reason then return refuse(reason) end
  local with = string.match(job.script, "^#!%s*([%w/_.+ -]+)\n")
  if not with then return refuse("the script has to begin with the program that reads it, such as #!/bin/bash") end

  local known = mark()
  local words = { "tidegate-held", known }
  if is_set(job.time_limit) then
    table.insert(words, "minutes=" .. job.time_limit)
    -- Tidegate ends it in time, by its checkpoint signal; Slurm if that fails.
    job.time_limit = job.time_limit + 10
  end
  table.insert(words, "requeue=" .. (job.requeue == 0 and "0" or "1"))
  local said = string.match(job.comment or "", "tidegate:(.*)$")
  if said then table.insert(words, "tidegate:" .. string.gsub(said, "[^%w=_ -]", "?")) end
  job.comment = table.concat(words, " ")
  job.priority = 0
  -- Slurm starts no run by itself.
  job.requeue = 0
  job.min_nodes = 1
  job.max_nodes = 1
  local first = {
    "#!/bin/bash",
    "# Tidegate starts this; the script as it was submitted stands below.",
    string.format("tidegate_with='%s' tidegate_from=%d", with, LINES + 1),
    string.format(". '%s/marks/%s' \"$@\"", FOLDER, known),
    "exit 1",
  }
  job.script = table.concat(first, "\n") .. "\n" .. job.script
  return slurm.SUCCESS
end

-- Who may not release a job may not do so by another change either.
function slurm_job_modify(job, record, partitions, uid)
  if uid == 0 or uid == AGENT then return slurm.SUCCESS end
  local is_moved = is_named(job.partition) and job.partition ~= record.partition
  if record.partition == PARTITION or (is_moved and string.find("," .. job.partition .. ",", "," .. PARTITION .. ",", 1, true)) then
    return slurm.ERROR
  end
  return slurm.SUCCESS
end

return slurm.SUCCESS
