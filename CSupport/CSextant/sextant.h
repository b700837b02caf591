// SPDX-License-Identifier: Apache-2.0

/// libsextant: the decoder of Sextant for C, and for any language that can call C.
///
/// A decoder receives the bytes of a GNSS receiver in pieces of any size. It calls back with each whole frame of NMEA
/// 0183, UBX and RTCM 3 whose checksum is correct, and with a fix for each epoch: position, time, velocity and their
/// accuracy. The page "fixes" of the reference states how messages become a fix. Encoders write frames, and find
/// configuration items by name. A client gets locations from the location service of this computer.
///
/// Memory: the library allocates none and has no variables. A decoder or client lives in memory of the caller, which it neither
/// moves nor frees: there is no function that ends a decoder.
///
/// Threads: a decoder or client may be used from any thread, but only by one call at a time. Callbacks run in the
/// thread of the call, before it returns. They may not call functions with their own decoder or client. Different ones
/// are independent. All other functions may be called from any thread at any time, also in an interrupt handler.
///
/// Errors: a function that cannot do its work returns 0, NULL or false, as documented for it, and has no other visible
/// effect. Bytes that are not frames are not errors; they are counted.
///
/// Units are in the names. A number that is unknown is NaN (`double`) or negative (counts), as documented for it.
///
/// This header is the only definition of these types: the library, which is written in Swift, imports it.

#ifndef SEXTANT_H
#define SEXTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Version

/// The version of this interface. It changes when a program has to be compiled again: when a structure, a constant or the meaning
/// of a function changes. New functions do not change it.
#define SEXTANT_ABI_VERSION 1

/// The version of the interface that the library has. A program that loads the library at run time compares it with
/// `SEXTANT_ABI_VERSION`.
uint32_t sextant_abi_version(void);

// MARK: Frames

/// The protocol of a frame.
typedef enum sextant_protocol {
  SEXTANT_NMEA = 0,
  SEXTANT_UBX = 1,
  SEXTANT_RTCM3 = 2
} sextant_protocol;

/// A complete frame with a correct checksum. All pointers are valid until the callback returns.
typedef struct sextant_frame {
  /// `sextant_protocol`.
  uint32_t protocol;
  /// The content of the frame. NMEA: the characters of the formatter, up to four, as a number, the last one in the low
  /// byte (RMC is 0x524D43). UBX: class and id, the class in the high byte (NAV-PVT is 0x0107). RTCM 3: the message
  /// number, 0...4095; 4096 for a frame without one.
  uint32_t message;
  /// The bytes of the frame, from its first byte to the last one of its checksum or line end.
  const uint8_t *bytes;
  size_t length;
  /// The payload in `bytes`. NMEA: the bytes between the first comma and the `*`; empty if there is no comma.
  const uint8_t *payload;
  size_t payload_length;
  /// The number of bytes that the decoder got before the frame.
  uint64_t offset;
} sextant_frame;

// MARK: Fixes

/// The kind of a solution.
typedef enum sextant_fix_kind {
  /// No position.
  SEXTANT_FIX_NONE = 0,
  /// The time is known, the position is not.
  SEXTANT_FIX_TIME_ONLY = 1,
  /// Latitude and longitude.
  SEXTANT_FIX_2D = 2,
  /// Latitude, longitude and height.
  SEXTANT_FIX_3D = 3,
  /// From sensors alone, without satellites.
  SEXTANT_FIX_DEAD_RECKONING = 4,
  /// From satellites and sensors.
  SEXTANT_FIX_COMBINED = 5,
  /// A position that was surveyed or configured; the satellites provide only the time.
  SEXTANT_FIX_SURVEYED = 6
} sextant_fix_kind;

/// The method and the corrections of the position.
typedef enum sextant_quality {
  SEXTANT_QUALITY_UNKNOWN = 0,
  SEXTANT_QUALITY_AUTONOMOUS = 1,
  SEXTANT_QUALITY_DIFFERENTIAL = 2,
  SEXTANT_QUALITY_PRECISE_SERVICE = 3,
  SEXTANT_QUALITY_RTK_FLOAT = 4,
  SEXTANT_QUALITY_RTK_FIXED = 5,
  SEXTANT_QUALITY_ESTIMATED = 6,
  SEXTANT_QUALITY_MANUAL = 7,
  SEXTANT_QUALITY_SIMULATED = 8
} sextant_quality;

/// The origin of an accuracy.
typedef enum sextant_accuracy_source {
  /// No accuracy is known.
  SEXTANT_ACCURACY_NONE = 0,
  /// The receiver sent it.
  SEXTANT_ACCURACY_RECEIVER = 1,
  /// Estimated by the library, from the dilution of precision and the kind of fix.
  SEXTANT_ACCURACY_ESTIMATED = 2,
  /// Assumed by the library for typical reception: the receiver does not send dilutions of precision.
  SEXTANT_ACCURACY_ASSUMED = 3
} sextant_accuracy_source;

/// The solution of a receiver for one epoch. A `double` that is unknown is NaN.
typedef struct sextant_fix {
  /// Nanoseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted; valid if `has_time`.
  int64_t time_nanoseconds_since_1970;
  bool has_time;
  /// Whether the receiver has resolved seconds and date from the satellites.
  bool time_is_resolved;
  /// Whether there is a position that may be used: kind, latitude and longitude.
  bool has_position;
  /// Whether the fix is within the receiver's own limits of accuracy and dilution (UBX gnssFixOK). Do not base
  /// decisions on a position outside these limits.
  bool is_within_limits;
  /// Whether the receiver sent its kind of solution in this epoch.
  bool reports_kind;
  /// `sextant_fix_kind`.
  uint8_t kind;
  /// `sextant_quality`.
  uint8_t quality;
  /// `sextant_accuracy_source`, of the position's accuracies.
  uint8_t accuracy_source;
  /// GPS - UTC, as the receiver reports it; -1 if it did not send it.
  int32_t leap_seconds;
  /// -1 if unknown.
  int32_t satellites_used;
  /// -1 if unknown.
  int32_t satellites_in_view;
  /// The number of the differential reference station; -1 if unknown.
  int32_t differential_station;
  double differential_age_seconds;

  /// -90...90, north positive.
  double latitude_degrees;
  /// -180...180, east positive.
  double longitude_degrees;
  /// Above the WGS 84 ellipsoid.
  double height_above_ellipsoid_metres;
  /// Above mean sea level, from the receiver's geoid, or from a coarse model if the receiver sends only the other
  /// height.
  double height_above_sea_level_metres;
  /// The geoid above the ellipsoid.
  double geoid_separation_metres;
  /// Earth-centred, earth-fixed coordinates, if the receiver sends them.
  double ecef_metres[3];

  double speed_metres_per_second;
  /// 0...360 from true north, of the motion over ground.
  double course_degrees;
  /// Upwards.
  double climb_metres_per_second;
  /// North, east, down.
  double velocity_metres_per_second[3];
  /// Earth-centred, earth-fixed, if the receiver sends it.
  double ecef_metres_per_second[3];
  /// 0...360 from true north, of the bow. It is never derived from the course.
  double heading_degrees;
  /// 0...360 from magnetic north, of the bow.
  double magnetic_heading_degrees;
  /// East positive.
  double magnetic_variation_degrees;

  // One standard deviation.
  double time_accuracy_seconds;
  double horizontal_accuracy_metres;
  double vertical_accuracy_metres;
  double east_accuracy_metres;
  double north_accuracy_metres;
  double ecef_accuracy_metres;
  double speed_accuracy_metres_per_second;
  double climb_accuracy_metres_per_second;
  double course_accuracy_degrees;
  double heading_accuracy_degrees;

  // Dilutions of precision, as the receiver sends them; without unit.
  double gdop;
  double pdop;
  double hdop;
  double vdop;
  double tdop;
  /// East.
  double edop;
  /// North.
  double ndop;
} sextant_fix;

/// A satellite system, in UBX numbering (gnssId).
typedef enum sextant_system {
  SEXTANT_GPS = 0,
  SEXTANT_SBAS = 1,
  SEXTANT_GALILEO = 2,
  SEXTANT_BEIDOU = 3,
  SEXTANT_IMES = 4,
  SEXTANT_QZSS = 5,
  SEXTANT_GLONASS = 6,
  SEXTANT_NAVIC = 7,
  SEXTANT_SYSTEM_UNKNOWN = 8
} sextant_system;

/// The elevation or azimuth of a satellite if it is unknown.
#define SEXTANT_ANGLE_UNKNOWN (-128)

/// A satellite in view.
typedef struct sextant_satellite {
  /// `sextant_system`.
  uint8_t system;
  /// The number within its system (UBX svId); 0 if unknown.
  uint8_t number;
  /// Above the horizon, -90...90; `SEXTANT_ANGLE_UNKNOWN` if unknown.
  int8_t elevation_degrees;
  uint8_t reserved;
  /// From true north, 0...359; `SEXTANT_ANGLE_UNKNOWN` if unknown.
  int16_t azimuth_degrees;
  /// Carrier-to-noise density ratio of the strongest signal, dBHz; 0 if it is not tracked.
  uint8_t signal_decibel_hertz;
  /// 1 if the satellite is used in the solution, else 0.
  uint8_t is_used;
} sextant_satellite;

/// A fix with the satellites, and the reason of the report. All pointers are valid until the callback returns.
typedef struct sextant_report {
  const sextant_fix *fix;
  /// The satellites in the receiver's sequence, up to 128.
  const sextant_satellite *satellites;
  size_t satellite_count;
  /// Whether the epoch was reported before and has changed since.
  bool is_update;
  /// Whether anything except satellites and dilutions changed since the previous report; true for the first report of
  /// an epoch.
  bool fix_changed;
  /// Whether the satellites changed since the last report, or the dilutions that were reported with them.
  bool sky_changed;
  /// Whether the dilutions are new and the receiver sends no satellites.
  bool has_dilutions_alone;
} sextant_report;

// MARK: The decoder

/// A decoder in memory of the caller.
typedef struct sextant_decoder sextant_decoder;

/// The bytes of a decoder without the memory for an incomplete frame.
#define SEXTANT_DECODER_BASE_BYTES 4784

/// The bytes of memory for an incomplete frame that every decoder has: the longest sentence of NMEA (1028) and the longest frame of
/// RTCM 3 (1029).
#define SEXTANT_SHORTEST_CARRY_BYTES 1032

/// The longest UBX payload that is accepted, in bytes: RXM-RAWX with 255 measurements has 8176.
#define SEXTANT_LONGEST_UBX_PAYLOAD 8192

/// The bytes of a decoder that accepts UBX payloads up to `payload` bytes, 0...`SEXTANT_LONGEST_UBX_PAYLOAD`. Longer UBX frames
/// are skipped and counted. NAV-PVT has 92 bytes, NAV-SAT up to 8 + 12 * 128 = 1544.
#define SEXTANT_DECODER_BYTES(payload)                                                                                \
  (SEXTANT_DECODER_BASE_BYTES                                                                                          \
   + ((payload) + 8 > SEXTANT_SHORTEST_CARRY_BYTES ? (payload) + 8 : SEXTANT_SHORTEST_CARRY_BYTES))

/// The alignment of a decoder's memory in bytes.
#define SEXTANT_DECODER_ALIGNMENT 16

/// The settings of a decoder. All zeros are valid: no callback, no context, no reference time.
typedef struct sextant_options {
  /// The first argument of the callbacks.
  void *context;
  /// Called with each frame, before the report that results from it; NULL if frames are not needed.
  void (*on_frame)(void *context, const sextant_frame *frame);
  /// Called when an epoch is complete, and again when a late message changes it; NULL if fixes are not needed.
  void (*on_report)(void *context, const sextant_report *report);
  /// The time of the computer's clock, nanoseconds since 1970 UTC; 0 if it is not set. It corrects the dates of
  /// receivers whose week number is off by a multiple of 1024.
  int64_t reference_nanoseconds_since_1970;
  /// Whether the bytes come live from a receiver. A first epoch that has only a time of day takes its date from the
  /// reference.
  bool is_live;
} sextant_options;

/// Makes a decoder of NMEA, UBX and RTCM 3 in `memory`.
///
/// - memory: aligned to `SEXTANT_DECODER_ALIGNMENT`, not moved or used otherwise while the decoder is in use. No
///   cleanup is needed: the memory may be reused or freed when no call uses the decoder.
/// - size: `SEXTANT_DECODER_BYTES(payload)` for the longest UBX payload that is needed; more is not used beyond
///   `SEXTANT_DECODER_BYTES(SEXTANT_LONGEST_UBX_PAYLOAD)`.
/// - options: copied.
///
/// Returns the decoder, which is at `memory`; NULL if a pointer is NULL, the memory is not aligned, or it is smaller than
/// `SEXTANT_DECODER_BYTES(0)`.
sextant_decoder *sextant_decoder_init(void *memory, size_t size, const sextant_options *options);

/// As `sextant_decoder_init`, with fixes only from NMEA. Frames of all protocols are found. A program that is linked
/// with `--gc-sections` and names only this function contains no code for the messages of UBX.
sextant_decoder *sextant_decoder_init_nmea(void *memory, size_t size, const sextant_options *options);

/// As `sextant_decoder_init`, with fixes only from UBX.
sextant_decoder *sextant_decoder_init_ubx(void *memory, size_t size, const sextant_options *options);

/// Gives the decoder the next bytes of the stream, in a piece of any size. The frames and reports do not depend on the
/// size of the pieces. Nothing happens if `decoder` or `bytes` is NULL.
void sextant_decoder_feed(sextant_decoder *decoder, const void *bytes, size_t count);

/// Signals that the line is silent and no more messages of this epoch will come: 100 ms of silence are enough for any
/// receiver. A pending epoch is reported. Without this call it is reported at the first message of the next epoch, or
/// at its own last message once the decoder has learned which message is the last. If the stored beginning of a frame
/// contains whole frames, the beginning is dropped and the frames are found: bytes of noise can look like the header of
/// a frame.
void sextant_decoder_idle(sextant_decoder *decoder);

/// Signals the end of the stream. Frames after an incomplete one are searched in the stored bytes, and a pending epoch
/// is reported. The decoder may be used again.
void sextant_decoder_finish(sextant_decoder *decoder);

/// Drops an incomplete frame, for example after a change of the line's rate.
void sextant_decoder_reset(sextant_decoder *decoder);

/// Counts of a stream, and the reasons of skipped bytes.
typedef struct sextant_counters {
  uint64_t nmea_frames;
  uint64_t ubx_frames;
  uint64_t rtcm3_frames;
  /// Bytes outside of frames.
  uint64_t skipped_bytes;
  /// Frames with a wrong checksum.
  uint64_t bad_checksums;
  /// Frames longer than their protocol or the decoder's memory allows.
  uint64_t too_long;
  /// Sentences that are broken off by a control character, a new `$` or a byte that is not ASCII.
  uint64_t broken_sentences;
  /// Sentences without a checksum. They are not used.
  uint64_t without_checksum;
  /// Frames that were incomplete at the end of the stream.
  uint64_t cut_frames;
  /// Fields that are invalid or out of range, and therefore absent from the fixes.
  uint64_t rejected_fields;
} sextant_counters;

/// Stores the counts since the initialization of the decoder in `counters`. Nothing happens if a pointer is NULL.
void sextant_decoder_counters(const sextant_decoder *decoder, sextant_counters *counters);

// MARK: Encoders

/// The longest frame of each protocol that an encoder writes, in bytes.
#define SEXTANT_LONGEST_NMEA_FRAME 1024
#define SEXTANT_LONGEST_UBX_FRAME (SEXTANT_LONGEST_UBX_PAYLOAD + 8)
#define SEXTANT_LONGEST_RTCM3_FRAME 1029

/// Writes an NMEA sentence: `$`, the content, `*`, the checksum, CR LF.
///
/// - content: the characters between `$` and `*`, for example `PUBX,00`, of `count` characters. It begins with an upper-case letter and
///   has printable ASCII characters except `$` and `*`.
///
/// Returns the length of the sentence in bytes; 0 if the content is invalid, or the sentence is longer than `capacity` or
/// `SEXTANT_LONGEST_NMEA_FRAME`.
size_t sextant_encode_nmea(const char *content, size_t count, void *output, size_t capacity);

/// Writes a UBX frame: 0xB5 0x62, class, id, length, payload, checksum. An empty payload is a poll.
///
/// Returns the length of the frame, `count` + 8 bytes; 0 if that is more than `capacity`, or `count` is more than
/// `SEXTANT_LONGEST_UBX_PAYLOAD`. `payload` may be NULL if `count` is 0.
size_t sextant_encode_ubx(
    uint8_t message_class, uint8_t message_id, const void *payload, size_t count, void *output, size_t capacity);

/// Writes an RTCM 3 frame: 0xD3, length, payload, CRC-24Q.
///
/// Returns the length of the frame, `count` + 6 bytes; 0 if that is more than `capacity`, or `count` is more than 1023.
size_t sextant_encode_rtcm3(const void *payload, size_t count, void *output, size_t capacity);

// MARK: Configuration items

/// The type of a configuration item's value on the wire (interface descriptions, "data types").
typedef enum sextant_value_type {
  SEXTANT_UNSIGNED = 0,
  SEXTANT_SIGNED = 1,
  /// A bit field.
  SEXTANT_BITS = 2,
  SEXTANT_ENUMERATION = 3,
  /// 0 or 1.
  SEXTANT_LOGICAL = 4,
  /// IEEE 754.
  SEXTANT_FLOAT = 5
} sextant_value_type;

/// An item of the configuration database of u-blox receivers since protocol 23.01 (interface descriptions, "configuration
/// interface"). The pointers are to constants.
typedef struct sextant_configuration_item {
  /// The interface description's name, such as `CFG-RATE-MEAS`.
  const char *name;
  /// As the interface description writes it; empty for none.
  const char *unit;
  /// The key in UBX-CFG-VALSET, -VALGET and -VALDEL.
  uint32_t key;
  /// `sextant_value_type`.
  uint8_t type;
  /// The size of the value in bytes: 1, 2, 4 or 8.
  uint8_t size;
  /// The value in the item's unit is the value on the wire divided by 10 to the power of `decimals`, and by 2 to the power of
  /// `binary_places`. One of them is 0.
  uint8_t decimals;
  uint8_t binary_places;
} sextant_configuration_item;

/// Stores the item with a name in `item`. The name ends with a zero; case counts. The search is linear.
///
/// Returns false if no receiver of the interface descriptions has such an item, or if a pointer is NULL.
bool sextant_configuration_item_named(const char *name, sextant_configuration_item *item);

/// Stores the item with a key in `item`. Returns false if no item has the key, or if `item` is NULL.
bool sextant_configuration_item_with_key(uint32_t key, sextant_configuration_item *item);

/// Calls `body` with each item, in ascending order of the keys, until it returns false. The item is valid until `body`
/// returns. Nothing happens if `body` is NULL.
void sextant_configuration_items(bool (*body)(void *context, const sextant_configuration_item *item), void *context);

/// A key and its value.
typedef struct sextant_configuration_value {
  uint32_t key;
  /// The bits of the value on the wire, not sign-extended.
  uint64_t bits;
} sextant_configuration_value;

/// Stores in `value` the bits for a value in the unit of `item`, rounded to the nearest value of the wire.
///
/// Returns false if the value is not finite or does not fit the type, or if a pointer is NULL.
bool sextant_configuration_value_make(
    const sextant_configuration_item *item, double value_in_unit, sextant_configuration_value *value);

/// The value of `bits` in the unit of `item`; NaN if `item` is NULL.
double sextant_configuration_value_in_unit(const sextant_configuration_item *item, uint64_t bits);

/// Layers of UBX-CFG-VALSET and -VALDEL, which may be combined.
#define SEXTANT_LAYER_RAM 1
#define SEXTANT_LAYER_BBR 2
#define SEXTANT_LAYER_FLASH 4

/// The largest number of items in a frame.
#define SEXTANT_MOST_CONFIGURATION_ITEMS 64

/// Writes UBX-CFG-VALSET, without a transaction: sets items in the layers of the mask.
///
/// Returns the length of the frame in bytes; 0 if there are more than `SEXTANT_MOST_CONFIGURATION_ITEMS`, a key has no valid size, or
/// the frame is longer than `capacity`. `SEXTANT_CONFIGURATION_FRAME_BYTES(count)` are always enough.
size_t sextant_encode_valset(
    uint8_t layers, const sextant_configuration_value *values, size_t count, void *output, size_t capacity);

/// Writes UBX-CFG-VALGET: requests items of a layer (0 RAM, 1 battery-backed RAM, 2 flash, 7 default), from the result number
/// `position` on. A key may represent a group (interface descriptions, "wildcards"). Returns as
/// `sextant_encode_valset`.
size_t sextant_encode_valget(
    uint8_t layer, uint16_t position, const uint32_t *keys, size_t count, void *output, size_t capacity);

/// Writes UBX-CFG-VALDEL: deletes items from the layers of the mask, which are battery-backed RAM and flash. Returns as
/// `sextant_encode_valset`.
size_t sextant_encode_valdel(
    uint8_t layers, const uint32_t *keys, size_t count, void *output, size_t capacity);

/// The maximum size of a frame with `count` items, in bytes.
#define SEXTANT_CONFIGURATION_FRAME_BYTES(count) (12 + 12 * (count))

// MARK: The location service

/// A client of the location service (sextantd) in memory of the caller, through its interface org.sextant.Location.
/// Only available in the library for Linux.
///
/// A client has one connection and one call at a time: a status, a location, or a subscription. No function waits: a program waits
/// with poll(2) for input at the descriptor, and then calls `sextant_client_receive`, which calls the handlers. The
/// service identifies the program by its process, and looks up its permission in the authorization store.
typedef struct sextant_client sextant_client;

/// The path of the socket of this computer's service.
#define SEXTANT_SERVICE_PATH "/run/sextant/location"

/// The result of a function of the client.
typedef enum sextant_client_result {
  SEXTANT_CLIENT_OK = 0,
  /// A pointer is NULL, a path is empty or too long for a socket, or a distance is negative or 10^9 m or more. Nothing has changed.
  SEXTANT_CLIENT_INVALID_ARGUMENT = 1,
  /// Nothing has changed.
  SEXTANT_CLIENT_NOT_CONNECTED = 2,
  /// The client has a call already. Nothing has changed.
  SEXTANT_CLIENT_BUSY = 3,
  /// No program accepts connections at the path.
  SEXTANT_CLIENT_NO_SERVICE = 4,
  /// The service has ended the connection, for example because it was stopped.
  SEXTANT_CLIENT_DISCONNECTED = 5,
  /// A system call failed, and errno has the reason. The connection has ended.
  SEXTANT_CLIENT_SYSTEM_ERROR = 6,
  /// The other end sent a message that org.sextant.Location does not describe. The connection has ended.
  SEXTANT_CLIENT_BAD_MESSAGE = 7,
  /// A message does not fit in the client's memory. The connection has ended.
  SEXTANT_CLIENT_MESSAGE_TOO_LONG = 8,
  /// The program has no permission for locations, or the user has denied it. The call has ended, as for the results
  /// below; the connection stays open.
  SEXTANT_CLIENT_DENIED = 9,
  /// The user has not yet answered the request for permission.
  SEXTANT_CLIENT_NOT_DETERMINED = 10,
  /// No location was found in time.
  SEXTANT_CLIENT_LOCATION_UNKNOWN = 11,
  /// The service has no receiver.
  SEXTANT_CLIENT_NO_RECEIVER = 12,
  /// The service refused the call for another reason, for example because it is older than this library.
  SEXTANT_CLIENT_REFUSED = 13
} sextant_client_result;

/// A text in English for a result: what happened and the next step, without a full stop. Never NULL.
const char *sextant_client_result_text(sextant_client_result result);

/// A location from the service. A `double` that is unknown is NaN.
typedef struct sextant_location {
  /// Nanoseconds since 1970-01-01 00:00:00 UTC, of the fix; the service sends milliseconds.
  int64_t time_nanoseconds_since_1970;
  /// WGS 84, north positive; always known.
  double latitude_degrees;
  /// WGS 84, east positive; always known.
  double longitude_degrees;
  /// Above mean sea level.
  double altitude_metres;
  /// Above the WGS 84 ellipsoid.
  double ellipsoidal_altitude_metres;
  /// The radius of uncertainty.
  double horizontal_accuracy_metres;
  double vertical_accuracy_metres;
  /// Over ground.
  double speed_metres_per_second;
  /// The direction of travel, 0...360 from true north.
  double course_degrees;
  /// Whether a simulator or a recording produced the location.
  bool is_simulated;
} sextant_location;

/// A receiver of the service. A text that is not known is NULL.
typedef struct sextant_receiver {
  /// The device node, or the name of a simulator or recording: `/dev/ttyACM0`, `sim:walk`.
  const char *device;
  /// The model, if the receiver reports it: `NEO-M9N`.
  const char *model;
  /// The power state, as `sextant status` prints it.
  const char *state;
  /// The reason for the state.
  const char *reason;
  /// The kind of fix: `none`, `2D` or `3D`.
  const char *fix;
} sextant_receiver;

/// The maximum number of receivers in a `sextant_status`. Further receivers are not listed.
#define SEXTANT_MOST_RECEIVERS 16

/// The state of the service. All pointers are valid until the callback returns. The texts are UTF-8.
typedef struct sextant_status {
  const char *version;
  double uptime_seconds;
  /// The number of programs that use the service.
  size_t program_count;
  const sextant_receiver *receivers;
  size_t receiver_count;
} sextant_status;

/// The callbacks of a client. They run inside `sextant_client_receive`, and may not call functions with their own client.
typedef struct sextant_client_handlers {
  /// The first argument of the callbacks.
  void *context;
  /// Called with the location of `sextant_client_request_location`, and with each one of a subscription; NULL if not needed.
  void (*on_location)(void *context, const sextant_location *location);
  /// Called with the status of `sextant_client_get_status`; NULL if not needed.
  void (*on_status)(void *context, const sextant_status *status);
} sextant_client_handlers;

/// The bytes of a client without the memory for a message.
#define SEXTANT_CLIENT_BASE_BYTES 128

/// The memory for a message that every client has. It is enough for a location; a status has about 200 bytes for each
/// receiver and program.
#define SEXTANT_SHORTEST_MESSAGE_BYTES 1024

/// The bytes of a client for messages up to `message` bytes, `SEXTANT_SHORTEST_MESSAGE_BYTES` or more.
#define SEXTANT_CLIENT_BYTES(message) (SEXTANT_CLIENT_BASE_BYTES + (message))

/// Makes an unconnected client in `memory`.
///
/// - memory: aligned as a pointer, not moved or used otherwise while the client is in use. Before it is reused or freed,
///   `sextant_client_disconnect` closes the descriptor.
/// - size: `SEXTANT_CLIENT_BYTES(message)` for the longest message.
/// - handlers: copied.
///
/// Returns the client, which is at `memory`; NULL if a pointer is NULL, the memory is not aligned, or it is too small.
sextant_client *sextant_client_init(void *memory, size_t size, const sextant_client_handlers *handlers);

/// Connects to the service at `path`, which is usually `SEXTANT_SERVICE_PATH`. An existing connection is closed first.
///
/// Returns OK, INVALID_ARGUMENT, NO_SERVICE or SYSTEM_ERROR. With SYSTEM_ERROR, errno is EAGAIN if the service's queue
/// of pending connections is full.
sextant_client_result sextant_client_connect(sextant_client *client, const char *path);

/// Closes the connection, and ends its call: a subscription ends this way. Nothing happens without a connection.
void sextant_client_disconnect(sextant_client *client);

/// The descriptor to wait on for input, with poll(2) or similar; -1 without a connection. The caller must not read or
/// close it.
int sextant_client_descriptor(const sextant_client *client);

/// Requests the status, which needs no permission. One call of `on_status` or an error of `sextant_client_receive` follows.
///
/// Returns OK, INVALID_ARGUMENT, NOT_CONNECTED, BUSY, DISCONNECTED or SYSTEM_ERROR, as for the two functions below.
sextant_client_result sextant_client_get_status(sextant_client *client);

/// Requests one location, with an accuracy of `desired_accuracy_metres`, or the best one found in time; NaN for the
/// best accuracy of the receiver. One call of `on_location` or an error of `sextant_client_receive` follows.
sextant_client_result sextant_client_request_location(sextant_client *client, double desired_accuracy_metres);

/// Subscribes to locations that are `distance_filter_metres` or more from the previous one; NaN for every location. A
/// program that reads slowly gets the newest one. The subscription ends with `sextant_client_disconnect` or an error of
/// `sextant_client_receive`.
sextant_client_result sextant_client_subscribe(
    sextant_client *client, double desired_accuracy_metres, double distance_filter_metres);

/// Reads what the service has sent, without waiting, and calls the handlers with it.
///
/// Returns OK also if nothing has arrived; otherwise the reason why the call, or the connection, has ended.
sextant_client_result sextant_client_receive(sextant_client *client);

#ifdef __cplusplus
}
#endif

#endif
