-- Lets Wireshark read what `meterctl pd METER --format pcapng` writes. No link type is registered for USB Power Delivery, so
-- the file has LINKTYPE_USER0. Put this into the folder of personal Lua plugins (Help, About, Folders), or:
--   wireshark -X lua_script:usb-pd.lua pd.pcapng
-- A packet is a byte and a message: 0 is SOP, 1 SOP', 2 SOP''; 255 is followed by text about something that is not a message.

local pd = Proto("usbpd", "USB Power Delivery")

local SOP = { [0] = "SOP", [1] = "SOP'", [2] = "SOP''", [255] = "Note" }
local CONTROL = {
  [1] = "GoodCRC", [2] = "GotoMin", [3] = "Accept", [4] = "Reject", [5] = "Ping", [6] = "PS_RDY", [7] = "Get_Source_Cap",
  [8] = "Get_Sink_Cap", [9] = "DR_Swap", [10] = "PR_Swap", [11] = "VCONN_Swap", [12] = "Wait", [13] = "Soft_Reset",
  [14] = "Data_Reset", [15] = "Data_Reset_Complete", [16] = "Not_Supported", [17] = "Get_Source_Cap_Extended",
  [18] = "Get_Status", [19] = "FR_Swap", [20] = "Get_PPS_Status", [21] = "Get_Country_Codes", [22] = "Get_Sink_Cap_Extended",
  [23] = "Get_Source_Info", [24] = "Get_Revision",
}
local DATA = {
  [1] = "Source_Capabilities", [2] = "Request", [3] = "BIST", [4] = "Sink_Capabilities", [5] = "Battery_Status", [6] = "Alert",
  [7] = "Get_Country_Info", [8] = "Enter_USB", [9] = "EPR_Request", [10] = "EPR_Mode", [11] = "Source_Info", [12] = "Revision",
  [15] = "Vendor_Defined",
}
local EXTENDED = {
  [1] = "Source_Capabilities_Extended", [2] = "Status", [3] = "Get_Battery_Cap", [4] = "Get_Battery_Status",
  [5] = "Battery_Capabilities", [6] = "Get_Manufacturer_Info", [7] = "Manufacturer_Info", [8] = "Security_Request",
  [9] = "Security_Response", [10] = "Firmware_Update_Request", [11] = "Firmware_Update_Response", [12] = "PPS_Status",
  [13] = "Country_Info", [14] = "Country_Codes", [15] = "Sink_Capabilities_Extended", [16] = "Extended_Control",
  [17] = "EPR_Source_Capabilities", [18] = "EPR_Sink_Capabilities", [30] = "Vendor_Defined_Extended",
}
local REVISION = { [0] = "1.0", [1] = "2.0", [2] = "3.x" }

local f = {
  sop = ProtoField.uint8("usbpd.sop", "Ordered set", base.DEC, SOP),
  note = ProtoField.string("usbpd.note", "Note"),
  header = ProtoField.uint16("usbpd.header", "Header", base.HEX),
  extended = ProtoField.bool("usbpd.extended", "Extended", 16, nil, 0x8000),
  count = ProtoField.uint16("usbpd.count", "Objects", base.DEC, nil, 0x7000),
  id = ProtoField.uint16("usbpd.id", "Message id", base.DEC, nil, 0x0E00),
  role = ProtoField.bool("usbpd.role", "From the source, or from a plug of the cable", 16, nil, 0x0100),
  revision = ProtoField.uint16("usbpd.revision", "Revision", base.DEC, REVISION, 0x00C0),
  kind = ProtoField.uint16("usbpd.type", "Type", base.DEC, nil, 0x001F),
  name = ProtoField.string("usbpd.name", "Message"),
  second = ProtoField.uint16("usbpd.extended_header", "Extended header", base.HEX),
  chunk = ProtoField.uint16("usbpd.chunk", "Chunk", base.DEC, nil, 0x7800),
  asks = ProtoField.bool("usbpd.chunk_request", "Asks for it", 16, nil, 0x0400),
  size = ProtoField.uint16("usbpd.size", "Bytes in all chunks", base.DEC, nil, 0x01FF),
  object = ProtoField.uint32("usbpd.object", "Object", base.HEX),
  data = ProtoField.bytes("usbpd.data", "Data"),
}
pd.fields = f

local function bits(word, low, count) return bit.band(bit.rshift(word, low), bit.lshift(1, count) - 1) end

-- An offer of a source, or what a sink would like.
local function offer(word)
  local kind = bits(word, 30, 2)
  if kind == 0 then return string.format("%g V %g A", bits(word, 10, 10) / 20, bits(word, 0, 10) / 100) end
  if kind == 1 then
    return string.format("battery %g-%g V %g W", bits(word, 10, 10) / 20, bits(word, 20, 10) / 20, bits(word, 0, 10) / 4)
  elseif kind == 2 then
    return string.format("variable %g-%g V %g A", bits(word, 10, 10) / 20, bits(word, 20, 10) / 20, bits(word, 0, 10) / 100)
  end
  local sub = bits(word, 28, 2)
  if sub == 0 then
    return string.format("PPS %g-%g V %g A", bits(word, 8, 8) / 10, bits(word, 17, 8) / 10, bits(word, 0, 7) / 20)
  elseif sub == 1 then
    return string.format("EPR AVS %g-%g V %d W", bits(word, 8, 8) / 10, bits(word, 17, 9) / 10, bits(word, 0, 8))
  elseif sub == 2 then
    return string.format("AVS 15 V %g A, 20 V %g A", bits(word, 10, 10) / 100, bits(word, 0, 10) / 100)
  end
  return string.format("object %08x", word)
end

local function objects(buffer, tree, describe)
  local words = {}
  for at = 0, buffer:len() - 4, 4 do
    local word = buffer(at, 4):le_uint()
    local text = describe and word ~= 0 and describe(word, at / 4) or nil
    local item = tree:add_le(f.object, buffer(at, 4))
    if text then
      item:append_text(": " .. text)
      words[#words + 1] = text
    end
  end
  return table.concat(words, ", ")
end

function pd.dissector(buffer, packet, root)
  if buffer:len() < 1 then return end
  packet.cols.protocol = "USB PD"
  local tree = root:add(pd, buffer())
  tree:add(f.sop, buffer(0, 1))
  local sop = buffer(0, 1):uint()
  if sop == 255 then
    local text = buffer:len() > 1 and buffer(1):string() or ""
    if buffer:len() > 1 then tree:add(f.note, buffer(1)) end
    packet.cols.info = text
    return
  end
  if buffer:len() < 3 then return end
  local header = buffer(1, 2):le_uint()
  local head = tree:add_le(f.header, buffer(1, 2))
  for _, field in ipairs({ f.extended, f.count, f.id, f.role, f.revision, f.kind }) do head:add_le(field, buffer(1, 2)) end
  local kind, count = bits(header, 0, 5), bits(header, 12, 3)
  local extended = bits(header, 15, 1) == 1
  local names = extended and EXTENDED or count == 0 and CONTROL or DATA
  local name = names[kind] or string.format("type %d", kind)
  tree:add(f.name, name):set_generated()
  local role = bits(header, 8, 1) == 1
  if sop == 0 then
    packet.cols.src, packet.cols.dst = role and "source" or "sink", role and "sink" or "source"
  else
    packet.cols.src, packet.cols.dst = role and "cable" or "port", role and "port" or "cable"
  end
  local rest = buffer:len() > 3 and buffer(3):tvb() or nil
  local words = ""
  if rest and extended and rest:len() >= 2 then
    local second = rest(0, 2):le_uint()
    local below = tree:add_le(f.second, rest(0, 2))
    for _, field in ipairs({ f.chunk, f.asks, f.size }) do below:add_le(field, rest(0, 2)) end
    if rest:len() > 2 then tree:add(f.data, rest(2)) end
    words = string.format("%s chunk %d", bits(second, 10, 1) == 1 and "asks for" or "", bits(second, 11, 4))
  elseif rest then
    local isList = kind == 1 or kind == 4
    words = objects(rest, tree, (isList and offer) or ((kind == 2 or kind == 9) and function(word, place)
      if place == 0 then return string.format("object %d", bits(word, 28, 4)) end
      return offer(word)
    end) or nil)
  end
  packet.cols.info = string.format("%s %s #%d %s", SOP[sop] or ("SOP" .. sop), name, bits(header, 9, 3), words)
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, pd)
